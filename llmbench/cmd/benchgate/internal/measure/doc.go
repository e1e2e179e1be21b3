// Package measure has the commands of benchgate that take samples: ab, aa and bisect. They build both sides, run them in
// turn, each sample in a fresh process, keep the samples in a folder, and have package judge compare them.
package measure
