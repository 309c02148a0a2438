package approver_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hookrouter/hookrouter/internal/natsx"
	"github.com/hookrouter/hookrouter/internal/server/embedded"
	"github.com/hookrouter/hookrouter/pkg/approval"
	"github.com/hookrouter/hookrouter/pkg/approver"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
)

// demo runs an example where a hook has made an approval request.
func demo(example func(ctx context.Context, client *hookrouter.Client) error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := func() error {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		s, err := embedded.Start(embedded.Options{Listen: "127.0.0.1:0", StoreDir: dir, NoSync: true})
		if err != nil {
			return err
		}
		defer s.Stop()
		b, err := natsx.Connect(natsx.Options{URL: s.ClientURL()})
		if err != nil {
			return err
		}
		defer b.Close()
		d, err := openService(b)
		if err != nil {
			return err
		}
		defer d.close()
		d.ask("q1", true)
		client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: s.ClientURL()})
		if err != nil {
			return err
		}
		defer client.Close()
		return example(ctx, client)
	}(); err != nil {
		fmt.Println(err)
	}
}

// Somebody looks at what is open and answers it, bound to the data that was
// looked at.
func ExampleApprover_Answer() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a := approver.New(client)
		list, _, err := a.Pending(ctx, approval.Filter{Session: "s1"})
		if err != nil {
			return err
		}
		for _, q := range list {
			r, err := a.Get(ctx, q.ID)
			if err != nil {
				return err
			}
			fmt.Printf("%s asks about %s: %s %q\n", r.Hook, r.Data, r.Prompt, r.Options)
			option, err := a.Answer(ctx, q.ID, approval.Answer{Option: "allow once", By: "ada", DataSHA256: r.DataSHA256})
			if err != nil {
				return err
			}
			fmt.Println("accepted:", option)
		}
		_, err = a.Answer(ctx, "q1", approval.Answer{Option: "Deny"})
		if refusal, ok := errors.AsType[*hookrouter.Error](err); ok {
			fmt.Println(refusal.Code, refusal.Text)
		}
		return nil
	})
	// Output:
	// deploy-guard asks about {"n":9007199254740993}: Deploy to production? ["Allow once" "Allow always" "Deny"]
	// accepted: Allow once
	// 409 it was decided already: "Allow once" by ada
}

// A policy that denies everything, as it is asked.
func ExampleApprover_Watch() {
	demo(func(ctx context.Context, client *hookrouter.Client) error {
		a := approver.New(client)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return a.Watch(ctx, func(n approval.Notice) {
			if n.Decision != nil {
				fmt.Println("decided:", n.Decision.Option)
				cancel()
				return
			}
			fmt.Println("asked:", n.Request.Prompt)
			if _, err := a.Answer(ctx, n.Request.ID, approval.Answer{Option: "Deny", Note: "by policy"}); err != nil {
				fmt.Println(err)
			}
		})
	})
	// Output:
	// asked: Deploy to production?
	// decided: Deny
}
