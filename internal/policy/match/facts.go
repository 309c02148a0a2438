package match

import (
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// The types of the variables emitter and lineage: what the router knows of the event's
// sender and of its session.
var (
	emitterType = cel.ObjectType("hookrouter.Emitter")
	lineageType = cel.ObjectType("hookrouter.Lineage")
)

// objectFields are the fields of each type of this package that is an object.
var objectFields = map[string]map[string]*cel.Type{
	toolType.TypeName(): func() map[string]*cel.Type {
		fields := make(map[string]*cel.Type, len(toolFields))
		for name, f := range toolFields {
			fields[name] = f.typ
		}
		return fields
	}(),
	emitterType.TypeName(): {"id": cel.StringType, "name": cel.StringType, "role": cel.StringType, "proven": cel.BoolType},
	lineageType.TypeName(): {"root": cel.StringType, "parent": cel.StringType, "depth": cel.IntType},
}

// Emitter is who sent the event, as far as the connection proves.
func (in *Input) Emitter() map[string]any {
	id := in.attributes[events.AttrEmitter]
	return map[string]any{
		"id": id, "name": id[strings.LastIndexAny(id, "/ ")+1:], "role": in.attributes[events.AttrRole], "proven": id != "",
	}
}

// Lineage is where the session is in the tree of sub-agents, as the agent claims.
// The root of a session that claims nothing is the session.
func (in *Input) Lineage() map[string]any {
	depth, err := strconv.ParseInt(in.attributes[events.AttrDepth], 10, 64)
	if err != nil {
		depth = 0
	}
	root := in.attributes[events.AttrRoot]
	if root == "" {
		root = string(in.session)
	}
	return map[string]any{"root": root, "parent": in.attributes[events.AttrParent], "depth": depth}
}
