package router

import (
	"github.com/hookrouter/hookrouter/internal/policy/match"
	"github.com/hookrouter/hookrouter/pkg/chain"
)

// compile turns the match of a registration into its condition, nil where it has none.
func compile(reg chain.Registration) (func(*chain.View) (bool, error), error) {
	if reg.Match == "" {
		return nil, nil
	}
	program, err := match.Compile(reg.Match)
	if err != nil {
		return nil, err
	}
	return func(v *chain.View) (bool, error) {
		in := v.Decoded(func(v *chain.View) any { return match.NewInput(v.Event, v.Session, v.Data) })
		return program.Eval(in.(*match.Input))
	}, nil
}

// checkMatch reports what is wrong with the match of a registration.
func checkMatch(reg chain.Registration) error {
	_, err := compile(reg)
	return err
}
