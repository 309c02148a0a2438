package match

import (
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/hookrouter/hookrouter/pkg/events"
)

// The types of the variables emitter and lineage, which describe the event's sender and session.
var (
	emitterType = cel.ObjectType("hookrouter.Emitter")
	lineageType = cel.ObjectType("hookrouter.Lineage")
)

// objectFields are the fields of the object types of this package.
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

// Emitter returns the sender of the event, as proven by the connection.
func (in *Input) Emitter() map[string]any {
	id := in.attributes[events.AttrEmitter]
	return map[string]any{
		"id": id, "name": id[strings.LastIndexAny(id, "/ ")+1:], "role": in.attributes[events.AttrRole], "proven": id != "",
	}
}

// Lineage returns the place of the session in the tree of sub-agents, as the agent claims. If it
// claims nothing, the session is its own root.
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
