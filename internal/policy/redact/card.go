package redact

// card finds a card number that begins at text[at]: 16 digits, with or without separators between
// groups of four.
func card(text []byte, at, _ int) (from, to int) {
	if at > 0 && isDigit(text[at-1]) {
		return 0, 0
	}
	switch n := digits(text[at:]); {
	case n == 16 && isCard(text[at:at+16]) && !inHash(text, at):
		return at, at + 16
	case n == 4 && isGrouped(text[at:]):
		return at, at + 19
	}
	return 0, 0
}

// digits returns the number of leading digits of text, or 17 if there are more than 16.
func digits(text []byte) int { return while(text[:min(len(text), 17)], 0, isDigit) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isGrouped reports whether text begins with four groups of four digits that form a card number.
// With dashes any digits count, because little else is written that way; with spaces the check
// digit must be valid.
func isGrouped(text []byte) bool {
	if len(text) < 19 || text[4] != '-' && text[4] != ' ' {
		return false
	}
	var number [16]byte
	for g := range 4 {
		if digits(text[5*g:]) != 4 || g > 0 && text[5*g-1] != text[4] {
			return false
		}
		copy(number[4*g:], text[5*g:5*g+4])
	}
	return text[4] == '-' || isCard(number[:])
}

// isCard reports whether 16 digits may be a card number: the first is 2 to 6, unlike in timestamps
// in microseconds, and the check digit is valid (Luhn).
func isCard(number []byte) bool {
	if number[0] < '2' || number[0] > '6' {
		return false
	}
	sum := 0
	for i, c := range number {
		d := int(c - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// inHash reports whether the 16 digits at text[at] are part of a hexadecimal hash. One hash in six
// thousand contains digits that look like a card number.
func inHash(text []byte, at int) bool {
	from, to := at, at+16
	for from > 0 && to-from < 32 && isHex(text[from-1]) {
		from--
	}
	for to < len(text) && to-from < 32 && isHex(text[to]) {
		to++
	}
	return to-from == 32
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
