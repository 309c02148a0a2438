package signals

import "context"

// Stopping tells when a program begins to stop and when it has stopped. It calls begin once ctx
// ends. The returned function, which the program defers, calls end, after begin has returned if
// that was called.
func Stopping(ctx context.Context, begin, end func()) (stopped func()) {
	begun := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(begun)
		begin()
	})
	return func() {
		if !cancel() {
			<-begun
		}
		end()
	}
}
