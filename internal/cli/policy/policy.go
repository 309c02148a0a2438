package policy

// Cmd is `hookctl policy`.
type Cmd struct {
	Diff     DiffCmd     `cmd:"" help:"Run recorded events through two worker files, and list the decisions that change."`
	Push     PushCmd     `cmd:"" help:"Sign a worker file and hand it to the workers that follow the policy."`
	Compare  CompareCmd  `cmd:"" help:"List where the version in shadow would have answered otherwise."`
	Enforce  EnforceCmd  `cmd:"" help:"Enforce the version that workers try in shadow."`
	Rollback RollbackCmd `cmd:"" help:"Go back to an earlier version, by a signature."`
	Status   StatusCmd   `cmd:"" help:"List which version each worker runs, and what it refused."`
}
