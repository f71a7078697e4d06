package prepaidotel_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/cardprograms/prepaid"
	prepaidotel "github.com/cardprograms/prepaid/contrib/otel"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

// stage is a client on an emulator, and its spans and metrics.
type stage struct {
	t *testing.T
	*prepaidtest.Server
	spans   *tracetest.InMemoryExporter
	tracers *sdktrace.TracerProvider
	reader  *sdkmetric.ManualReader
	meters  *sdkmetric.MeterProvider
	client  *prepaid.Client
}

func newStage(t *testing.T, options prepaidtest.Options) *stage {
	t.Helper()
	s := &stage{t: t, Server: prepaidtest.NewServer(t, options)}
	s.spans = tracetest.NewInMemoryExporter()
	s.tracers = sdktrace.NewTracerProvider(sdktrace.WithSyncer(s.spans))
	s.reader = sdkmetric.NewManualReader()
	s.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(s.reader))
	t.Cleanup(func() {
		require.NoError(t, s.tracers.Shutdown(context.Background()))
		require.NoError(t, s.meters.Shutdown(context.Background()))
	})
	s.open(s.Config(), prepaidotel.Options{})
	return s
}

// open makes the stage's client of config.
func (s *stage) open(config prepaid.Config, options prepaidotel.Options) {
	s.t.Helper()
	options.TracerProvider, options.MeterProvider = s.tracers, s.meters
	if config.Limiter == nil {
		config.Limiter = ratelimit.None{} // on a busy machine the client's own one shows waits
	}
	client, err := prepaid.NewClient(prepaidotel.Instrument(config, options))
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, client.Close()) })
	s.client = client
}

// token gets the first token, so that only later requests are seen.
func (s *stage) token() {
	s.t.Helper()
	_, err := s.client.Token(s.t.Context())
	require.NoError(s.t, err)
	s.spans.Reset()
}

func (s *stage) account(balance string) prepaid.AccountID {
	return s.AddAccount(prepaidtest.SeedAccount{Balance: balance})
}

func (s *stage) transfer(ctx context.Context, from, to prepaid.AccountID) error {
	_, err := s.client.Accounts.Transfer(ctx, from, transferTo(to))
	return err
}

func transferTo(to prepaid.AccountID) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("1.00"), SourceReference: "out", DestinationReference: "in", DestinationAccountID: to,
	}
}

// ended closes the client, so that a background renewal is reported.
func (s *stage) ended() { require.NoError(s.t, s.client.Close()) }

// tree prints the spans without times, those of one parent by their start, roots by name.
func (s *stage) tree() []string {
	s.ended()
	all := s.spans.GetSpans()
	slices.SortStableFunc(all, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	var lines []string
	var under func(parent tracetest.SpanStub, indent string)
	show := func(span tracetest.SpanStub, indent string) {
		require.False(s.t, span.EndTime.IsZero())
		require.Empty(s.t, span.Status.Description)
		var line strings.Builder
		line.WriteString(indent + span.Name + " " + span.SpanKind.String() + " " + s.shown(span.Attributes))
		if span.Status.Code == codes.Error {
			line.WriteString(" ERROR")
		}
		for _, event := range span.Events {
			line.WriteString(" [" + event.Name + " " + s.shown(event.Attributes) + "]")
		}
		lines = append(lines, line.String())
		under(span, indent+"  ")
	}
	under = func(parent tracetest.SpanStub, indent string) {
		for _, span := range all {
			if span.Parent.SpanID() == parent.SpanContext.SpanID() && span.Parent.HasSpanID() {
				show(span, indent)
			}
		}
	}
	var roots []tracetest.SpanStub
	for _, span := range all {
		if !span.Parent.HasSpanID() {
			roots = append(roots, span)
		}
	}
	slices.SortStableFunc(roots, func(a, b tracetest.SpanStub) int { return strings.Compare(a.Name, b.Name) })
	for _, root := range roots {
		show(root, "")
	}
	return lines
}

// shown prints attributes by key. It checks and omits the server, and checks that there are pauses.
func (s *stage) shown(attributes []attribute.KeyValue) string {
	base, err := url.Parse(s.URL)
	require.NoError(s.t, err)
	var shown []string
	for _, a := range attributes {
		switch a.Key {
		case "server.address":
			require.Equal(s.t, base.Hostname(), a.Value.AsString())
			continue
		case "server.port":
			require.Equal(s.t, base.Port(), strconv.FormatInt(a.Value.AsInt64(), 10))
			continue
		case "prepaid.retry.wait", "prepaid.limiter.wait":
			require.Positive(s.t, a.Value.AsFloat64())
			shown = append(shown, string(a.Key))
			continue
		}
		shown = append(shown, string(a.Key)+"="+a.Value.String())
	}
	slices.Sort(shown)
	return strings.Join(shown, " ")
}

// counts prints every series: the value of a counter, the count of a histogram.
func (s *stage) counts() []string {
	s.ended()
	var lines []string
	for _, m := range s.collect() {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			require.True(s.t, data.IsMonotonic)
			for _, point := range data.DataPoints {
				lines = append(lines, fmt.Sprintf("%s{%s} %d", m.Name, s.shown(point.Attributes.ToSlice()), point.Value))
			}
		case metricdata.Histogram[float64]:
			require.Equal(s.t, "s", m.Unit)
			for _, point := range data.DataPoints {
				require.Less(s.t, point.Sum, time.Minute.Seconds())
				lines = append(lines, fmt.Sprintf("%s{%s} %d", m.Name, s.shown(point.Attributes.ToSlice()), point.Count))
			}
		default:
			s.t.Fatalf("%s is a %T", m.Name, data)
		}
	}
	slices.Sort(lines)
	return lines
}

func (s *stage) collect() []metricdata.Metrics {
	var all metricdata.ResourceMetrics
	require.NoError(s.t, s.reader.Collect(context.Background(), &all))
	if len(all.ScopeMetrics) == 0 {
		return nil
	}
	require.Len(s.t, all.ScopeMetrics, 1)
	require.Equal(s.t, "github.com/cardprograms/prepaid/contrib/otel", all.ScopeMetrics[0].Scope.Name)
	return all.ScopeMetrics[0].Metrics
}
