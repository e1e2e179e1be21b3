// Package browser opens reports, and the page of benchreport serve, in a real Chromium. It is a module of its own, so
// that nobody who uses llmbench builds a browser's driver.
package browser
