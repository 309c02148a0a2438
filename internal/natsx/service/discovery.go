package service

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/hookrouter/hookrouter/internal/natsx"
)

// discover answers PING, INFO and STATS of the NATS micro protocol. It uses the library's types but
// not its service, which counts a request as done when its handler returns: some handlers reply
// later.
func (s *Service) discover() error {
	answers := map[micro.Verb]func() any{
		micro.PingVerb:  func() any { return micro.Ping{ServiceIdentity: s.identity(), Type: micro.PingResponseType} },
		micro.InfoVerb:  func() any { return s.info() },
		micro.StatsVerb: func() any { return s.stats() },
	}
	for verb, answer := range answers {
		for _, who := range [][2]string{{"", ""}, {s.name, ""}, {s.name, s.id}} {
			subject, err := micro.ControlSubject(verb, who[0], who[1])
			if err != nil {
				return err
			}
			sub, err := s.conn.Conn().Subscribe(subject, func(m *nats.Msg) {
				if body, err := json.Marshal(answer()); err == nil && natsx.IsInbox(m.Reply) {
					_ = m.Respond(body)
				}
			})
			if err != nil {
				return err
			}
			s.discovery = append(s.discovery, sub)
		}
	}
	return nil
}

func (s *Service) identity() micro.ServiceIdentity {
	metadata := maps.Clone(s.metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	if more := s.more.Load(); more != nil {
		maps.Copy(metadata, (*more)())
	}
	return micro.ServiceIdentity{Name: s.name, ID: s.id, Version: s.version, Metadata: metadata}
}

func (s *Service) info() micro.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := micro.Info{ServiceIdentity: s.identity(), Type: micro.InfoResponseType, Endpoints: []micro.EndpointInfo{}}
	for _, ep := range s.endpoints {
		info.Endpoints = append(info.Endpoints, micro.EndpointInfo{Name: ep.spec.Name, Subject: ep.spec.Subject, QueueGroup: ep.spec.Queue})
	}
	return info
}

func (s *Service) stats() micro.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := micro.Stats{ServiceIdentity: s.identity(), Type: micro.StatsResponseType, Started: s.started, Endpoints: []*micro.EndpointStats{}}
	for _, ep := range s.endpoints {
		stats.Endpoints = append(stats.Endpoints, ep.stats(s.dropped.Load()))
	}
	return stats
}

// stats returns an endpoint's statistics. Their data counts errors by code, and the requests to the
// whole service that were dropped because of their reply subject.
func (ep *endpoint) stats(dropped int64) *micro.EndpointStats {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	e := &micro.EndpointStats{
		Name: ep.spec.Name, Subject: ep.spec.Subject, QueueGroup: ep.spec.Queue,
		NumRequests: int(ep.requests.Load()), NumErrors: ep.errors, LastError: ep.last,
		ProcessingTime: time.Duration(ep.nanos.Load()),
	}
	if e.NumRequests > 0 {
		e.AverageProcessingTime = e.ProcessingTime / time.Duration(e.NumRequests)
	}
	data := map[string]any{"refused": ep.byCode, "dropped_no_inbox": dropped}
	if ep.spec.Data != nil {
		data["counts"] = ep.spec.Data()
	}
	e.Data, _ = json.Marshal(data) // counts only
	return e
}
