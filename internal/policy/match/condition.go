package match

import "github.com/hookrouter/hookrouter/pkg/chain"

// Condition compiles the match of a registration for [chain.Entry.Condition]. It returns nil for a
// registration without one. All conditions of a chain share one [Input], so that the data is
// decoded at most once.
func Condition(reg chain.Registration) (func(*chain.View) (bool, error), error) {
	if reg.Match == "" {
		return nil, nil
	}
	program, err := Compile(reg.Match)
	if err != nil {
		return nil, err
	}
	return program.Condition, nil
}

// Condition is [Program.Eval] for the event of a chain's view.
func (p *Program) Condition(v *chain.View) (bool, error) {
	in := v.Decoded(func(v *chain.View) any { return NewInput(v.Event, v.Session, v.Data).With(v.Extensions) })
	return p.Eval(in.(*Input))
}
