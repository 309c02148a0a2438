// Package signals gives the programs one meaning for each signal.
//
//   - SIGTERM and an interrupt end the program when what is under way is done; a second one
//     ends it at once.
//   - SIGHUP reloads, unless standard input is a terminal: then the terminal was closed, and
//     the program ends as with SIGTERM.
//   - SIGUSR1 toggles the level of the log between debug and the configured one.
//
// Windows knows interrupts only.
//
//	ctx, sig, stop := signals.Notify(context.Background(), os.Stdin)
//	defer stop()
package signals
