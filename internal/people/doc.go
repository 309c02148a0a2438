// Package people maps authenticated identities to people, as configured in the file of hook-router
// --approval-groups: which identities belong to one person, which are models, who is in which
// group, and whose approval a hook's questions need.
//
// Names that an answer claims are ignored. An identity that the file does not name belongs to
// nobody: it can deny, like any identity, but where people of a group must allow, its approval does
// not count. Each person counts once, and for one group only.
package people
