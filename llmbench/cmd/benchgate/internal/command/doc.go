// Package command has what the commands of benchgate share: exit statuses, how reports and errors are printed, flags, and
// how files are written.
package command
