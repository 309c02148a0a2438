// Package workerfiles loads worker files for the commands of hook-worker and hookctl,
// prints what is wrong with them, and runs their tests.
package workerfiles
