package k8s

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Set is what one kustomization deploys. Namespace is where it all goes.
type Set struct {
	Namespace    string
	Namespaces   []*corev1.Namespace
	ConfigMaps   []*corev1.ConfigMap
	Secrets      []*corev1.Secret
	Services     []*corev1.Service
	Deployments  []*appsv1.Deployment
	StatefulSets []*appsv1.StatefulSet
	Budgets      []*policyv1.PodDisruptionBudget
	Policies     []*networkingv1.NetworkPolicy
}

// Build is what `kubectl kustomize DIR` prints.
func Build(dir string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy // as kubectl: what others need comes first
	resources, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", dir, err)
	}
	return resources.AsYaml()
}

// Decode reads manifests strictly: a member that the API does not have, one that
// is there twice and a kind that this package does not know are errors.
func Decode(manifests []byte) (*Set, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
	set := &Set{}
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(manifests)))
	defer documents.Close()
	text := make([]byte, 4<<20)
	for {
		n, err := documents.Read(text)
		if errors.Is(err, io.EOF) {
			return set, nil
		}
		if err != nil {
			return nil, err
		}
		object, _, err := decoder.Decode(bytes.Clone(text[:n]), nil, nil)
		if err != nil {
			return nil, fmt.Errorf("decode %.120q: %w", text[:n], err)
		}
		if err := set.add(object); err != nil {
			return nil, err
		}
	}
}

func (s *Set) add(object runtime.Object) error {
	switch o := object.(type) {
	case *corev1.Namespace:
		s.Namespaces = append(s.Namespaces, o)
		s.Namespace = o.Name
	case *corev1.ConfigMap:
		s.ConfigMaps = append(s.ConfigMaps, o)
	case *corev1.Secret:
		s.Secrets = append(s.Secrets, o)
	case *corev1.Service:
		s.Services = append(s.Services, o)
	case *appsv1.Deployment:
		s.Deployments = append(s.Deployments, o)
	case *appsv1.StatefulSet:
		s.StatefulSets = append(s.StatefulSets, o)
	case *policyv1.PodDisruptionBudget:
		s.Budgets = append(s.Budgets, o)
	case *networkingv1.NetworkPolicy:
		s.Policies = append(s.Policies, o)
	default:
		return fmt.Errorf("a %T is deployed, and no check here looks at one: add it", object)
	}
	return nil
}
