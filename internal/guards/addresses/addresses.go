// Package addresses interprets addresses in a text as the programs that connect to them do:
// 169.254.169.254 may also be written 2852039166, 0xa9fea9fe, 0251.0376.0251.0376,
// [::ffff:a9fe:a9fe] or ①⑥⑨。254。169。254. It does no lookups. All functions are pure and safe for
// concurrent use.
package addresses

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// metadata are the names of cloud services that return credentials of a machine. inName are parts
// of other names that resolve to their addresses.
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

// Metadata reports whether a text contains the address of a cloud metadata service.
func Metadata(text string) bool {
	return slices.ContainsFunc(names(text), func(name string) bool {
		addr, ok := Addr(name)
		return ok && slices.Contains(metadataAddrs, within(addr)) || slices.Contains(metadata, name) && strings.Contains(text, name+"/") ||
			strings.Contains(name, ".") && slices.Contains(metadata, name) || slices.ContainsFunc(inName, func(part string) bool { return strings.Contains(name, part) })
	})
}

// Loopback reports whether a text is an address of this machine.
func Loopback(text string) bool {
	name := host(text)
	addr, ok := Addr(name)
	return ok && (addr.IsLoopback() || addr.IsUnspecified()) && strings.ContainsAny(text, ".:") || name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// Names reports whether a text contains an address with a scheme.
func Names(text string) bool { return strings.Contains(text, "://") }

// Canonical returns the canonical form of a host, which patterns are compared with.
func Canonical(name string) string {
	name = mapped(name)
	if addr, ok := Addr(name); ok {
		return within(addr).String()
	}
	return strings.TrimRight(strings.ToLower(name), ".")
}

// special matches the beginning of a URL with a scheme for which browsers ignore the number of
// slashes and treat a \ as one.
var special = regexp.MustCompile(`^(?i)(https?|wss?|ftp):[/\\]*`)

// Readings returns the URL in the ways that programs read it. They disagree about a \ before an @:
// for some, the host ends at the \, for others, it begins after the @.
func Readings(text string) []string {
	text = strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(strings.TrimFunc(text, func(r rune) bool { return r <= ' ' }))
	if begins := special.FindString(text); begins != "" {
		scheme, _, _ := strings.Cut(begins, ":")
		text = scheme + "://" + text[len(begins):]
	} else if rest := strings.TrimLeft(text, `/\`); len(text)-len(rest) > 1 {
		text = "http://" + rest
	}
	all := []string{strings.ReplaceAll(text, `\`, "/")}
	if at := strings.IndexByte(text, '\\'); at >= 0 && strings.Contains(text[at:], "@") {
		all = append(all, strings.ReplaceAll(text, `\`, "%5C"))
	}
	return all
}

// international converts internationalized names as programs that support them do.
var international = idna.New(idna.MapForLookup(), idna.StrictDomainName(false))

// mapped returns a host with equivalent characters replaced: ① by 1, and 。 by a dot.
func mapped(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return name
	}
	name, _ = international.ToUnicode(name) // keeps what can't be converted
	return name
}

// IPv6 networks whose addresses contain an IPv4 address.
var (
	compatible = netip.MustParsePrefix("::/96")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
)

// within returns the IPv4 address that an IPv6 address may lead to, or the address itself.
func within(addr netip.Addr) netip.Addr {
	bytes := addr.As16()
	switch {
	case addr.Is4() || addr.IsLoopback() || addr.IsUnspecified():
		return addr
	case compatible.Contains(addr), nat64.Contains(addr):
		return netip.AddrFrom4([4]byte(bytes[12:]))
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(bytes[2:6]))
	}
	return addr
}

// names returns the parts of a text that may be hosts.
func names(text string) (all []string) {
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	for part := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r <= ' ' || strings.ContainsRune(`/@"'=,;()<>{}?#\|`, r) }) {
		all = append(all, withoutPort(part))
	}
	return all
}

// host returns the host of an address with or without a scheme.
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
	return strings.TrimSuffix(mapped(text), ".")
}

// Addr returns the IP address in a host, in any form that inet_aton accepts.
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
		n, err := strconv.ParseUint(part, 0, 64) // 0x is hexadecimal, a leading 0 octal
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
