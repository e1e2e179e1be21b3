package backends

import (
	"crypto/tls"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A Config holds the environment variables that name the servers to measure. After a semicolon, a field's
// comment gives the default.
type Config struct {
	Backends   []string        // LLMBENCH_BACKEND: names of servers; "mock"
	URL        string          // LLMBENCH_URL: base URL of a running server, which is measured instead
	Direct     string          // LLMBENCH_DIRECT: base URL of the server behind the gateway that is measured; "", which is none
	Name       string          // LLMBENCH_NAME: name of the server at URL, or of the process; "url", or "process" for the process
	Dialect    dialect.Dialect // LLMBENCH_DIALECT; openai-chat
	Model      string          // LLMBENCH_MODEL
	APIKey     env.Secret      // LLMBENCH_API_KEY: for a URL as the dialect prescribes, for containers as a bearer token
	Header     env.Header      // LLMBENCH_HEADER: further header fields of each request to URL
	Body       env.Secret      // LLMBENCH_BODY: changes the body of each completion
	Echo       []string        // LLMBENCH_ECHO: fields of an answer's header that the next turn of a session sends back to URL
	ShedStatus []int           // LLMBENCH_SHED_STATUS: statuses with which the server at URL refuses requests because of its load; nil, which is the statuses of llmbench.Target
	Proxy      string          // LLMBENCH_PROXY: URL of a proxy to the server at URL; "", which is none
	HTTP       string          // LLMBENCH_HTTP: version of HTTP, 1.1 or 2; "", which is 1.1
	Compressed bool            // LLMBENCH_COMPRESSED: whether the server at URL may compress its answers
	TLS        *tls.Config     // LLMBENCH_CA, LLMBENCH_CLIENT_CERT, LLMBENCH_CLIENT_KEY, LLMBENCH_INSECURE, for the server at URL; nil if none of them is set
	Metrics    []string        // LLMBENCH_METRICS: addresses of the metrics of the server at URL, or behind Command; nil, which looks for them at URL
	MetricsMap metrics.Names   // LLMBENCH_METRICS_MAP: names of the metrics of the server at URL; the zero value, which recognises the server
	NoMetrics  bool            // LLMBENCH_METRICS=off: do not read metrics
	Gateway    []string        // LLMBENCH_GATEWAY_METRICS: addresses of the metrics of the gateway at URL, or that Command starts; nil, which is none
	ResetCache bool            // LLMBENCH_RESET_CACHE: empty the prefix cache of the server at URL before each pass
	Image      string          // LLMBENCH_IMAGE: image of the server's container; "", which is the backend's own
	Args       []string        // LLMBENCH_ARGS: further arguments of the server in a container, quoted as in a shell
	GPUs       string          // LLMBENCH_GPUS: GPUs of the server in a container: ids, all or none
	ModelsDir  string          // LLMBENCH_MODELS_DIR: folder of this machine with models
	Quant      string          // LLMBENCH_QUANT: how the weights are quantized, in the server's words
	Revision   string          // LLMBENCH_REVISION: branch, tag or commit of the model on the Hub
	Template   string          // LLMBENCH_CHAT_TEMPLATE: file of this machine with a chat template
	TrustCode  bool            // LLMBENCH_TRUST_REMOTE_CODE: run code that comes with the model
	Offline    bool            // LLMBENCH_OFFLINE: do not ask the Hub
	Mock       Mock            // LLMBENCH_MOCK: profile and speed of the mock
	Command    []Program       // LLMBENCH_COMMAND: programs to start; the last one is the server
	Ready      Readiness       // LLMBENCH_READY: when that server is ready
	Build      string          // LLMBENCH_BUILD: folder that {out} in the command stands for
	Templates  []string        // LLMBENCH_TEMPLATES: files that are written for the last program, with values in place of placeholders
	LogDir     string          // LLMBENCH_OUT: folder for logs of servers; "" writes none

	// RecordHeader has LLMBENCH_RECORD_HEADER: fields of an answer's header that are kept in the records.
	RecordHeader []string
	// AWS has AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION, with which requests to
	// URL are signed. It is nil if these are not set, if Dialect is not one of AWS, or if requests have an API
	// key. AWS_BEARER_TOKEN_BEDROCK is such a key, and then in APIKey.
	AWS *llmbench.AWSKeys
}

func init() { env.Register(func(r *env.Reader) { ReadFrom(r) }) }

// ParseConfig reads a [Config] from an environment in the form of [os.Environ]. The error names each
// variable whose value is invalid or whose name begins with LLMBENCH_ but is unknown, with its value and
// what is allowed.
func ParseConfig(environ []string) (Config, error) {
	r := env.NewReader(environ)
	c := ReadFrom(r)
	return c, r.Err()
}

// ReadFrom reads a [Config]. It adds the errors of invalid variables to r.
func ReadFrom(r *env.Reader) Config {
	c := Config{Backends: []string{"mock"}, Name: "url", Dialect: dialect.OpenAIChat{}}
	env.Read(r, &c.Backends, "LLMBENCH_BACKEND", env.List(env.Text), "a comma list of different servers")
	env.ReadHidden(r, &c.URL, "LLMBENCH_URL", parseBaseURL, "a base URL like http://127.0.0.1:8000")
	env.ReadHidden(r, &c.Direct, "LLMBENCH_DIRECT", parseBaseURL, "a base URL like http://127.0.0.1:8000")
	env.Read(r, &c.Name, "LLMBENCH_NAME", env.Text, "a name")
	env.Read(r, &c.Dialect, "LLMBENCH_DIALECT", dialect.ByName, "one of "+strings.Join(dialect.Names(), ", "))
	env.Read(r, &c.Model, "LLMBENCH_MODEL", env.Text, "a model's name")
	env.ReadHidden(r, &c.APIKey, "LLMBENCH_API_KEY", parseSecret, "an API key")
	env.ReadHidden(r, &c.Header, "LLMBENCH_HEADER", parseHeader, "Name: value on each line")
	env.ReadHidden(r, &c.Body, "LLMBENCH_BODY", parseBody, "a JSON object")
	env.Read(r, &c.Image, "LLMBENCH_IMAGE", env.Text, "an image's name with a tag or a digest")
	env.ReadHidden(r, &c.Args, "LLMBENCH_ARGS", shellquote.Split, "arguments, quoted as in a shell")
	env.Read(r, &c.GPUs, "LLMBENCH_GPUS", env.Text, "ids like 0,1, all or none")
	env.Read(r, &c.ModelsDir, "LLMBENCH_MODELS_DIR", env.Folder, "a folder of this machine")
	env.Read(r, &c.Quant, "LLMBENCH_QUANT", env.Text, "a quantization in the server's words, like awq or Q4_K_M")
	env.Read(r, &c.Revision, "LLMBENCH_REVISION", env.Text, "a branch, a tag or a commit of the model on the Hugging Face Hub")
	env.Read(r, &c.Template, "LLMBENCH_CHAT_TEMPLATE", env.File, "a file of this machine with a chat template")
	env.Read(r, &c.TrustCode, "LLMBENCH_TRUST_REMOTE_CODE", strconv.ParseBool, "true or false")
	env.Read(r, &c.Offline, "LLMBENCH_OFFLINE", strconv.ParseBool, "true or false")
	env.Read(r, &c.Mock, "LLMBENCH_MOCK", parseMock, "a profile's name or a JSON file, a speed above 0 like speed=4, or both: default,speed=4")
	env.Read(r, &c.LogDir, "LLMBENCH_OUT", env.Text, "a folder")

	for _, name := range []string{"LLMBENCH_BACKEND", "LLMBENCH_MOCK"} {
		r.Exclusive(name, "LLMBENCH_URL")
	}
	for _, name := range []string{"LLMBENCH_IMAGE", "LLMBENCH_ARGS", "LLMBENCH_GPUS", "LLMBENCH_MODELS_DIR", "LLMBENCH_QUANT", "LLMBENCH_REVISION", "LLMBENCH_CHAT_TEMPLATE", "LLMBENCH_TRUST_REMOTE_CODE", "LLMBENCH_OFFLINE"} {
		r.Requires(name, "LLMBENCH_BACKEND")
	}
	readProcess(r, &c)
	env.Read(r, &c.Compressed, "LLMBENCH_COMPRESSED", strconv.ParseBool, "true or false")
	r.Requires("LLMBENCH_COMPRESSED", "LLMBENCH_URL")
	env.ReadHidden(r, &c.Proxy, "LLMBENCH_PROXY", parseProxy, "the URL of a proxy like http://proxy:3128")
	r.Requires("LLMBENCH_PROXY", "LLMBENCH_URL")
	env.Read(r, &c.HTTP, "LLMBENCH_HTTP", env.OneOf("1.1", "2"), "1.1 or 2")
	if c.HTTP == "2" && c.URL == "" && slices.ContainsFunc(c.Backends, func(name string) bool { return name != "mock" && name != processName }) {
		r.Errorf("LLMBENCH_HTTP=2: servers in containers speak HTTP/1.1: want LLMBENCH_URL, or process and mock alone in LLMBENCH_BACKEND")
	}
	if c.HTTP == "2" && c.URL != "" {
		if err := check(llmbench.Target{URL: c.URL, Proxy: c.Proxy, HTTP: c.HTTP}); err != nil {
			r.Errorf("LLMBENCH_HTTP=2: %v", err)
		}
	}
	switch {
	case !slices.Contains(c.Backends, processName):
		for _, name := range []string{"LLMBENCH_DIRECT", "LLMBENCH_NAME", "LLMBENCH_HEADER", "LLMBENCH_ECHO", "LLMBENCH_SHED_STATUS", "LLMBENCH_RECORD_HEADER", "LLMBENCH_GATEWAY_METRICS"} {
			r.Requires(name, "LLMBENCH_URL")
		}
	case !r.IsSet("LLMBENCH_NAME"):
		c.Name = processName
	}
	env.Read(r, &c.Echo, "LLMBENCH_ECHO", env.List(parseFieldName), "a comma list of names of header fields, like x-session-token,set-cookie")
	env.Read(r, &c.ShedStatus, "LLMBENCH_SHED_STATUS", env.List(parseStatus), "a comma list of HTTP statuses from 400 to 599, like 429,503,529")
	env.Read(r, &c.RecordHeader, "LLMBENCH_RECORD_HEADER", env.List(parseRecorded), "a comma list of names of header fields, like x-envoy-upstream-service-time")
	readMetrics(r, &c)
	c.TLS = readTLS(r, c.URL, append(c.Metrics, c.Gateway...))
	if name, _ := dialect.KeyHeader(c.Dialect, ""); c.APIKey.Reveal() != "" && c.Header[name] != nil {
		r.Errorf("LLMBENCH_API_KEY and a line %s of LLMBENCH_HEADER: want at most one of them", name)
	}
	if c.OnlyMock() {
		r.Requires("LLMBENCH_API_KEY", "LLMBENCH_URL")
	}
	if _, ok := dialect.AWSService(c.Dialect); ok && c.URL != "" && c.APIKey.Reveal() == "" && c.Header["Authorization"] == nil {
		readAWS(r, &c)
	}
	return c
}

// parseMock parses the profile and the speed of the mock.
func parseMock(v string) (m Mock, err error) {
	profile, speed, faster := env.CutParameter(v, "speed")
	if faster {
		m.Speed, err = env.Positive(speed)
	}
	if err == nil && (profile != "" || !faster) {
		if m.Profile, err = env.Text(profile); err != nil {
			return m, err
		}
		if _, err := mockserver.Load(m.Profile); err != nil { // before anything is started
			return m, env.Reason(err.Error())
		}
	}
	return m, err
}

// readAWS reads the credentials that AWS's own clients take from the environment. As in these clients, a
// bearer token comes before keys.
func readAWS(r *env.Reader, c *Config) {
	if token := r.Value("AWS_BEARER_TOKEN_BEDROCK"); token != "" {
		c.APIKey = env.NewSecret(token)
		return
	}
	id, secret, region := r.Value("AWS_ACCESS_KEY_ID"), r.Value("AWS_SECRET_ACCESS_KEY"), r.Value("AWS_REGION")
	switch {
	case id == "" && secret == "":
		return
	case id == "":
		r.Errorf("AWS_SECRET_ACCESS_KEY is set, but AWS_ACCESS_KEY_ID is not: want both to sign requests, or LLMBENCH_API_KEY")
	case secret == "":
		r.Errorf("AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not: want both to sign requests, or LLMBENCH_API_KEY")
	case region == "":
		r.Errorf("AWS_REGION is not set: want the region of LLMBENCH_URL, such as us-east-1, to sign requests with AWS_ACCESS_KEY_ID")
	default:
		c.AWS = &llmbench.AWSKeys{AccessKeyID: id, SecretAccessKey: env.NewSecret(secret), SessionToken: env.NewSecret(r.Value("AWS_SESSION_TOKEN")), Region: region}
	}
}

// OnlyMock reports whether the mock of this process is the one server to measure.
func (c Config) OnlyMock() bool { return c.URL == "" && slices.Equal(c.Backends, []string{"mock"}) }

// readMetrics reads the variables that concern the metrics and the prefix cache of the server at a URL.
func readMetrics(r *env.Reader, c *Config) {
	env.ReadHidden(r, &c.Metrics, "LLMBENCH_METRICS", env.List(parseMetrics), "addresses like http://127.0.0.1:8000/metrics, or off")
	env.Read(r, &c.ResetCache, "LLMBENCH_RESET_CACHE", strconv.ParseBool, "true or false")
	env.Read(r, &c.MetricsMap, "LLMBENCH_METRICS_MAP", parseMetricsMap, "a JSON object like {\"requests\":\"my_requests_total\"}, or a file with one")
	env.ReadHidden(r, &c.Gateway, "LLMBENCH_GATEWAY_METRICS", env.List(parseGatewayMetrics), "addresses like http://127.0.0.1:29000/metrics")
	if !slices.Contains(c.Backends, processName) {
		r.Requires("LLMBENCH_METRICS", "LLMBENCH_URL")
	} else if slices.Contains(c.Metrics, metricsOff) {
		r.Errorf("LLMBENCH_METRICS=off: want addresses, with LLMBENCH_BACKEND=%s", processName)
	}
	r.Requires("LLMBENCH_METRICS_MAP", "LLMBENCH_URL")
	r.Requires("LLMBENCH_RESET_CACHE", "LLMBENCH_URL")
	if c.NoMetrics = slices.Contains(c.Metrics, metricsOff); !c.NoMetrics {
		return
	}
	if len(c.Metrics) > 1 {
		r.Errorf("LLMBENCH_METRICS: off and addresses: want one of both")
	}
	if c.MetricsMap.Path != "" {
		r.Errorf("LLMBENCH_METRICS_MAP and LLMBENCH_METRICS=off: want at most one of them")
	}
	if c.ResetCache {
		r.Errorf("LLMBENCH_RESET_CACHE and LLMBENCH_METRICS=off: want at most one of them: the server is recognised by its metrics")
	}
	c.Metrics = nil
}

// metricsOff is the value of LLMBENCH_METRICS that turns the reading of metrics off.
const metricsOff = "off"

func parseMetrics(v string) (string, error) {
	if v == metricsOff {
		return v, nil
	}
	if _, err := metrics.Beside(llmbench.Target{}, v); err != nil {
		return "", env.Reason(err.Error())
	}
	return v, nil
}

// parseGatewayMetrics returns an address in which {port} is the port of a gateway that this process starts.
func parseGatewayMetrics(v string) (string, error) {
	if _, err := metrics.Beside(llmbench.Target{}, strings.ReplaceAll(v, portPlaceholder, "1")); err != nil {
		return "", env.Reason(err.Error())
	}
	return v, nil
}

// parseMetricsMap reads the names of metrics from an object or from a file with one.
func parseMetricsMap(v string) (metrics.Names, error) {
	text := []byte(v)
	if !strings.HasPrefix(strings.TrimSpace(v), "{") {
		var err error
		if text, err = os.ReadFile(v); err != nil {
			return metrics.Names{}, err
		}
	}
	n, err := metrics.ParseNames(text)
	if err != nil {
		return metrics.Names{}, env.Reason(err.Error())
	}
	return n, nil
}

// readTLS reads the TLS variables for the server at baseURL. addresses are those in LLMBENCH_METRICS. It
// returns nil if no TLS variable is set.
func readTLS(r *env.Reader, baseURL string, addresses []string) *tls.Config {
	var c tls.Config
	var cert, key string
	env.Read(r, &c.RootCAs, "LLMBENCH_CA", env.CertPool, "a file with certificates in PEM")
	env.Read(r, &cert, "LLMBENCH_CLIENT_CERT", env.Text, "a file with a certificate in PEM")
	env.Read(r, &key, "LLMBENCH_CLIENT_KEY", env.Text, "a file with a private key in PEM")
	env.Read(r, &c.InsecureSkipVerify, "LLMBENCH_INSECURE", strconv.ParseBool, "true or false")
	r.Requires("LLMBENCH_CLIENT_CERT", "LLMBENCH_CLIENT_KEY")
	r.Requires("LLMBENCH_CLIENT_KEY", "LLMBENCH_CLIENT_CERT")
	set := false
	for _, name := range []string{"LLMBENCH_CA", "LLMBENCH_CLIENT_CERT", "LLMBENCH_CLIENT_KEY", "LLMBENCH_INSECURE"} {
		r.Requires(name, "LLMBENCH_URL")
		if r.IsSet(name) && baseURL != "" && !isHTTPS(baseURL) && !slices.ContainsFunc(addresses, isHTTPS) {
			r.Errorf("%s: means nothing without an https URL in LLMBENCH_URL", name)
		}
		set = set || r.IsSet(name)
	}
	if cert != "" && key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			r.Errorf("LLMBENCH_CLIENT_CERT and LLMBENCH_CLIENT_KEY: %v: want a certificate and its key in PEM", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if !set {
		return nil
	}
	return &c
}

func isHTTPS(url string) bool { return strings.HasPrefix(strings.ToLower(url), "https:") }

func parseBaseURL(v string) (string, error) { return v, check(llmbench.Target{URL: v}) }

func parseProxy(v string) (string, error) {
	return v, check(llmbench.Target{URL: "http://any", Proxy: v})
}

// parseFieldName returns v if it is the name of a header field.
func parseFieldName(v string) (string, error) {
	return v, check(llmbench.Target{URL: "http://any", Echo: []string{v}})
}

// parseRecorded returns v if it is the name of a header field that may be recorded.
func parseRecorded(v string) (string, error) {
	return v, check(llmbench.Target{URL: "http://any", RecordHeader: []string{v}})
}

// parseStatus returns an HTTP status with which a server can refuse a request.
func parseStatus(v string) (int, error) {
	status, err := strconv.Atoi(v)
	if err == nil {
		err = check(llmbench.Target{URL: "http://any", ShedStatus: []int{status}})
	}
	return status, err
}

func parseHeader(v string) (env.Header, error) {
	h, err := env.ParseHeader(v)
	if err != nil {
		return nil, err
	}
	return h, check(llmbench.Target{URL: "http://any", Header: http.Header(h)})
}

func parseBody(v string) (env.Secret, error) {
	return env.NewSecret(v), check(llmbench.Target{URL: "http://any", Body: []byte(v)})
}

// check returns an error that says what is wrong with t, or nil. The error contains no secrets and may be
// shown.
func check(t llmbench.Target) error {
	if err := t.Check(); err != nil {
		return env.Reason(strings.TrimPrefix(err.Error(), "target: "))
	}
	return nil
}

func parseSecret(v string) (env.Secret, error) { return env.NewSecret(v), nil }
