// Package k8s checks what stands in deploy/: that the manifests are what
// Kubernetes takes, that everything in them which names something names what is
// there, that the pods keep to the restricted Pod Security Standard, that the NATS
// configuration grants what the operator's reference says, and that the programs
// serve with the settings of the manifests.
//
// There is no cluster behind it. The manifests are built by kustomize's library and
// decoded as strictly as an API server would with strict field validation. A check
// is a function that gets a [Set] and returns what is wrong, one sentence each;
// each has planted violations beside it that it must find.
//
// It is a module of its own, so that the product does not require Kubernetes'
// modules.
package k8s
