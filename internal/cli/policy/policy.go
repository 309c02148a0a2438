package policy

// Cmd has the commands of `hookctl policy`.
type Cmd struct {
	Diff DiffCmd `cmd:"" help:"Run recorded events through two worker files, and list the decisions that change."`
}
