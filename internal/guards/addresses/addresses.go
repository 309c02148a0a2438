// Package addresses reads the addresses in a text as the programs read them that connect:
// 169.254.169.254 is 2852039166, 0xa9fea9fe, 0251.0376.0251.0376 and [::ffff:a9fe:a9fe]
// too. It looks nothing up. Everything here is a pure function, safe for concurrent use.
package addresses

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// metadata are names at which clouds hand out the keys of a machine; the last are parts
// of those that lead there.
var (
	metadata      = strings.Fields("metadata.google.internal metadata.goog metadata metadata.azure.internal instance-data instance-data.ec2.internal metadata.platformequinix.com metadata.packet.net")
	metadataAddrs = func() (all []netip.Addr) {
		for text := range strings.FieldsSeq("169.254.169.254 169.254.170.2 169.254.170.23 169.254.169.253 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 fd20:ce::254") {
			all = append(all, netip.MustParseAddr(text))
		}
		return all
	}()
	inName = strings.Fields("169.254.169.254 169-254-169-254 169.254.170.2 a9fea9fe")
)

// Metadata reports whether a text has an address at which a cloud hands out keys.
func Metadata(text string) bool {
	return slices.ContainsFunc(names(text), func(name string) bool {
		addr, ok := Addr(name)
		return ok && slices.Contains(metadataAddrs, addr) || slices.Contains(metadata, name) && strings.Contains(text, name+"/") ||
			strings.Contains(name, ".") && slices.Contains(metadata, name) || slices.ContainsFunc(inName, func(part string) bool { return strings.Contains(name, part) })
	})
}

// Loopback reports whether a text is an address of this machine.
func Loopback(text string) bool {
	name := host(text)
	addr, ok := Addr(name)
	return ok && (addr.IsLoopback() || addr.IsUnspecified()) && strings.ContainsAny(text, ".:") || name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// Names reports whether a text is an address with a scheme.
func Names(text string) bool { return strings.Contains(text, "://") }

// Canonical is a host in the one form that patterns know it by.
func Canonical(name string) string {
	if addr, ok := Addr(name); ok {
		return addr.String()
	}
	return strings.TrimRight(strings.ToLower(name), ".")
}

// names are the parts of a text that may be hosts.
func names(text string) (all []string) {
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	for part := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r <= ' ' || strings.ContainsRune(`/@"'=,;()<>{}?#\|`, r) }) {
		all = append(all, withoutPort(part))
	}
	return all
}

// host is the host of an address, with a scheme or without.
func host(text string) string {
	if _, behind, found := strings.Cut(text, "://"); found {
		text = behind
	}
	if at := strings.IndexAny(text, "/?#"); at >= 0 {
		text = text[:at]
	}
	text = text[strings.LastIndexByte(text, '@')+1:]
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	return withoutPort(strings.ToLower(text))
}

func withoutPort(text string) string {
	if inner, _, found := strings.Cut(strings.TrimPrefix(text, "["), "]"); found {
		return inner
	}
	if name, _, found := strings.Cut(text, ":"); found && strings.Count(text, ":") == 1 {
		text = name
	}
	return strings.TrimSuffix(text, ".")
}

// Addr is the IP address that a host is, in each of the forms that inet_aton reads.
func Addr(name string) (addr netip.Addr, ok bool) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Unmap().WithZone(""), true
	}
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return addr, false
	}
	var value uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 64) // 0x is hexadecimal, 0 octal
		last := i == len(parts)-1
		bits := 8
		if last {
			bits = 8 * (5 - len(parts))
		}
		if err != nil || strings.ContainsRune(part, '_') || n >= 1<<bits {
			return addr, false
		}
		value = value<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}
