package reload_test

import (
	"context"
	"fmt"

	"github.com/hookrouter/hookrouter/internal/workerfile"
	"github.com/hookrouter/hookrouter/internal/workerfile/kind"
	"github.com/hookrouter/hookrouter/internal/workerfile/kinds/basic"
	"github.com/hookrouter/hookrouter/internal/workerfile/reload"
	"github.com/hookrouter/hookrouter/pkg/hookrouter"
	"github.com/hookrouter/hookrouter/pkg/hooktest"
	"github.com/hookrouter/hookrouter/pkg/worker"
)

func Example() {
	ctx := context.Background()
	bus, err := hooktest.New(ctx, hooktest.Options{Listen: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := hookrouter.Connect(ctx, hookrouter.Options{URL: bus.URL()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	w, err := worker.New(client, worker.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	set := reload.New(w, reload.Options{})
	for _, text := range []string{
		`hooks: [{id: freeze, events: ["deploy:start"], cel: {rules: [{deny: not today}]}}]`,
		`hooks: [{id: freeze, events: ["deploy:start"], cel: {rules: [{deny: not this week}]}}]`,
		`hooks: [{id: freeze, events: ["deploy:start"], cel: {rules: [{deny: not this week}]}}]`,
	} {
		file, err := workerfile.Parse("worker.yaml", []byte(text), basic.Kinds(kind.Worker{}))
		if err != nil {
			fmt.Println(err)
			continue
		}
		changes, err := set.Apply(ctx, file)
		fmt.Println(changes, err)
	}
	fmt.Println(w.Close(ctx))
	set.Close()
	fmt.Println(bus.Close())
	// Output:
	// 1 new <nil>
	// 1 changed <nil>
	// nothing changed <nil>
	// <nil>
	// <nil>
}
