// Package signals gives signals the same meaning in all programs.
//
//   - SIGTERM and an interrupt shut the program down gracefully; a second one ends it immediately.
//   - SIGHUP reloads files. If standard input is a terminal, SIGHUP means that the terminal was
//     closed, and the program ends as with SIGTERM.
//   - SIGUSR1 toggles the log level between debug and the configured one.
//
// Windows supports only interrupts.
//
//	ctx, sig, stop := signals.Notify(context.Background(), os.Stdin)
//	defer stop()
package signals
