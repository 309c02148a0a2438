// Package workerfiles loads worker files for the commands of hook-worker and hookctl, prints their
// errors and warnings, and runs their tests.
package workerfiles
