// Package browser opens reports, and the page of benchreport serve, in a real Chromium. It is a
// separate module, so that nobody who only uses llmbench has to build a driver for a browser.
package browser
