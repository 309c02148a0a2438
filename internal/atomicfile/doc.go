// Package atomicfile puts files in their place whole and on the disk, or not at all: who
// reads one sees the old text or the new one, also after a power cut.
package atomicfile
