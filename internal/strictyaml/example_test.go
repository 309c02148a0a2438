package strictyaml_test

import (
	"fmt"

	"github.com/hookrouter/hookrouter/internal/strictyaml"
)

func Example() {
	body, err := strictyaml.Parse([]byte("tool: Bash\nport: 8080\n"), "write {} for nothing")
	if err != nil {
		fmt.Println(err)
		return
	}
	members, err := strictyaml.Mapping(body)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range members {
		text, err := m.Text()
		fmt.Println(m.Key, text, err)
	}
	// Output:
	// tool Bash <nil>
	// port  2:7: port must be a text: quote it
}
