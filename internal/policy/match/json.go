package match

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/go-json-experiment/json/jsontext"
)

// maxJSON is the approximate maximum length of the JSON text of a value. By repeating a part of the
// data, an expression can build a value that is far larger than the data.
const maxJSON = 1 << 20

func toJSON(v ref.Val) (jsontext.Value, error) {
	return appendJSON(nil, v)
}

func appendJSON(buf []byte, v ref.Val) ([]byte, error) {
	if len(buf) > maxJSON {
		return nil, fmt.Errorf("match: the value is larger than %d bytes: %w", maxJSON, ErrTooCostly)
	}
	switch v := v.(type) {
	case types.Null:
		return append(buf, "null"...), nil
	case types.Bool:
		return strconv.AppendBool(buf, bool(v)), nil
	case types.Int:
		return strconv.AppendInt(buf, int64(v), 10), nil
	case types.Uint:
		return strconv.AppendUint(buf, uint64(v), 10), nil
	case types.Double:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("match: JSON has no number %v", f)
		}
		return strconv.AppendFloat(buf, float64(v), 'g', -1, 64), nil
	case types.String:
		return appendQuote(buf, string(v))
	case types.Bytes:
		return appendQuote(buf, base64.StdEncoding.EncodeToString(v))
	case types.Timestamp:
		return appendQuote(buf, v.Time.UTC().Format(time.RFC3339Nano))
	case types.Duration:
		return appendQuote(buf, strconv.FormatFloat(v.Duration.Seconds(), 'f', -1, 64)+"s")
	case traits.Mapper:
		return appendMap(buf, v)
	case traits.Lister:
		return appendList(buf, v)
	}
	return nil, fmt.Errorf("match: a value of type %s is not JSON", v.Type().TypeName())
}

func appendQuote(buf []byte, text string) ([]byte, error) {
	buf, _ = jsontext.AppendQuote(buf, text) // replaces invalid UTF-8
	return buf, nil
}

func appendList(buf []byte, list traits.Lister) ([]byte, error) {
	buf = append(buf, '[')
	var err error
	for i, it := 0, list.Iterator(); it.HasNext() == types.True; i++ {
		if i > 0 {
			buf = append(buf, ',')
		}
		if buf, err = appendJSON(buf, it.Next()); err != nil {
			return nil, err
		}
	}
	return append(buf, ']'), nil
}

func appendMap(buf []byte, object traits.Mapper) ([]byte, error) {
	names := make([]string, 0, 8)
	for it := object.Iterator(); it.HasNext() == types.True; {
		name, ok := it.Next().(types.String)
		if !ok {
			return nil, fmt.Errorf("match: the members of a JSON object have strings as names")
		}
		names = append(names, string(name))
	}
	slices.Sort(names)
	buf = append(buf, '{')
	for i, name := range names {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf, _ = appendQuote(buf, name)
		buf = append(buf, ':')
		var err error
		if buf, err = appendJSON(buf, object.Get(types.String(name))); err != nil {
			return nil, err
		}
	}
	return append(buf, '}'), nil
}
