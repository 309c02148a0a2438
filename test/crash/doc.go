// Package crash proves that the audit log keeps what agents were told, whatever
// happens to the machine: the power is cut, processes are killed, the disk is full.
// Each test keeps a journal of the answers that agents got, and afterwards looks for
// every one of them in the log, with the same content.
//
// # Power cuts
//
// A NATS server keeps its store on an ext4 image behind a loop device. Copying the
// image while the server runs is the power cut: what was not synced is in the page
// cache of the mounted file system and not in the image. The server goes on with the
// copy, and the next cut follows. [TestImageHoldsWhatWasSynced] checks the assumption,
// and the same test with a server that syncs every two minutes has to lose records.
//
// These tests need root, mkfs.ext4 and a disk for temporary files, and are skipped
// without them.
//
// # Volume
//
// By default there are one power cut and two kills. HOOKROUTER_TEST_TIER=ci runs a
// tenth of everything, HOOKROUTER_FULL=1 the whole volume, which needs -timeout 30m. Only
// the whole volume grows the log beyond one file of its stream. HOOKROUTER_SEED is the
// seed of what is random; processes and disks are not bound by it, so that a run with the
// same seed is a similar one. HOOKROUTER_TEST_LOG=1 shows what the processes log.
package crash
