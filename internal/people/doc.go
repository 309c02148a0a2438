// Package people knows who stands behind the identities that connections prove, as the
// operator's file of hook-router --approval-groups says: which of them are one person,
// which are models, who is in which group, and whose approval the questions of a hook take.
//
// Names that an answer claims are not looked at. Whoever the file does not name is nobody:
// their denial counts, as everybody's does, and where people of a group must allow, their
// approval does not. Each person counts once, and for one group.
package people
