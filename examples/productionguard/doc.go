// Package productionguard is an example hook that asks a person before an agent
// writes to a production file: one below a directory named production, or one
// that ends in .env.
//
// The question names the file as it will be written, without "..", and offers
// Allow once, Allow always (for this session and this file) and Deny. Nobody's
// answer within five minutes means no.
//
// Together with the path guard, which protects .env files outright, the denial
// wins and nobody is asked about those.
//
// The guard denies when it fails, or when nobody answers for it.
package productionguard
