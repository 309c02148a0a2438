// Package attack plays an agent, a worker or a stranger that tries to open the gate. The
// tests drive a real router over a real NATS server, with nothing but what the attacker
// could know, and each of them fails without the defense that it names.
package attack
