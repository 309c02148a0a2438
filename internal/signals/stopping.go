package signals

import "context"

// Stopping calls begin when ctx ends, which is when the program starts to stop. The program defers
// the returned function, which calls end, after begin has returned if it was called.
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
