// Package hugetext moves the code of the running program to huge pages.
//
// A statement runs through code that lies on some hundred pages of 4 KB, and between two statements the kernel and other
// processes use up the processor's memory of where pages are: each page is looked up anew, which costs most in a virtual machine. On
// pages of 2 MB it is ten. File systems seldom give huge pages to programs; so the code is copied to memory that has
// them, and that memory takes the place of the code, as other servers do (--use-largepages of Node.js, for example).
package hugetext
