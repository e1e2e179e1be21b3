// Package historycmd has the commands of "benchgate history". They keep results in a folder or in a branch of git, and
// have package history judge and show them.
package historycmd
