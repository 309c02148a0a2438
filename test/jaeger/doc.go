// Package jaeger is where Jaeger comes from: a module of its own, whose one tool is
// Jaeger's program with everything in it, so that the product does not require
// Jaeger's modules. The script build builds it, the script start starts it on loopback;
// test/integration tests against it.
package jaeger
