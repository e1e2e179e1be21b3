package env

import (
	"slices"
	"strings"
)

// prefix begins the name of every variable.
const prefix = "LLMBENCH_"

// names holds every variable that some package of this module reads, except for testNames.
var names = []string{
	// Which server is measured.
	"LLMBENCH_BACKEND",
	"LLMBENCH_URL",
	"LLMBENCH_DIRECT",
	"LLMBENCH_NAME",
	"LLMBENCH_DIALECT",
	"LLMBENCH_MODEL",
	"LLMBENCH_API_KEY",
	"LLMBENCH_HEADER",
	"LLMBENCH_BODY",
	"LLMBENCH_ECHO",
	"LLMBENCH_SHED_STATUS",
	"LLMBENCH_RECORD_HEADER",
	"LLMBENCH_COMPRESSED",
	"LLMBENCH_PROXY",
	"LLMBENCH_HTTP",
	"LLMBENCH_METRICS",
	"LLMBENCH_METRICS_MAP",
	"LLMBENCH_GATEWAY_METRICS",
	"LLMBENCH_RESET_CACHE",
	"LLMBENCH_CA",
	"LLMBENCH_CLIENT_CERT",
	"LLMBENCH_CLIENT_KEY",
	"LLMBENCH_INSECURE",
	"LLMBENCH_IMAGE",
	"LLMBENCH_ARGS",
	"LLMBENCH_GPUS",
	"LLMBENCH_MODELS_DIR",
	"LLMBENCH_QUANT",
	"LLMBENCH_REVISION",
	"LLMBENCH_CHAT_TEMPLATE",
	"LLMBENCH_TRUST_REMOTE_CODE",
	"LLMBENCH_OFFLINE",
	"LLMBENCH_COMMAND",
	"LLMBENCH_READY",
	"LLMBENCH_BUILD",
	"LLMBENCH_TEMPLATES",
	"LLMBENCH_MOCK",

	// What every benchmark writes and how results are judged.
	"LLMBENCH_OUT",
	"LLMBENCH_UNITS",
	"LLMBENCH_CLIENT_BOUND",
	"LLMBENCH_SALT",
	"LLMBENCH_PRIORITY",
	"LLMBENCH_PROGRESS",
	"LLMBENCH_PRICE",
	"LLMBENCH_BEFORE_PASS",
	"LLMBENCH_AFTER_PASS",
	"LLMBENCH_REPORT",
	"LLMBENCH_CACHE",

	// Several processes that measure together.
	"LLMBENCH_SHARD",
	"LLMBENCH_RENDEZVOUS",
	"LLMBENCH_RENDEZVOUS_TOKEN",
	"LLMBENCH_RENDEZVOUS_TIMEOUT",

	// Which form of a scenario runs, and the load of BenchmarkServe.
	"LLMBENCH_TOKENIZER",
	"LLMBENCH_FULL",
	"LLMBENCH_DATA",
	"LLMBENCH_ANSWERS",
	"LLMBENCH_BATCH",
	"LLMBENCH_CONCURRENCY",
	"LLMBENCH_RATE",
	"LLMBENCH_REQUESTS",
	"LLMBENCH_DURATION",
	"LLMBENCH_INPUT",
	"LLMBENCH_OUTPUT",
	"LLMBENCH_DATASET",
	"LLMBENCH_TURNS",
	"LLMBENCH_THINK",
	"LLMBENCH_SESSIONS",
	"LLMBENCH_CLASSES",
	"LLMBENCH_MIX",
	"LLMBENCH_STREAM",
	"LLMBENCH_WARMUP",
	"LLMBENCH_TIMEOUT",
	"LLMBENCH_IDLE_TIMEOUT",
	"LLMBENCH_MAX_FAIL",
	"LLMBENCH_MAX_IN_FLIGHT",
	"LLMBENCH_MAX_SHED",
	"LLMBENCH_SLO",
	"LLMBENCH_CANCEL",
	"LLMBENCH_SEED",
}

// testNames holds the variables that only tests of this module read.
var testNames = []string{"LLMBENCH_REQUIRE", "LLMBENCH_DEBIAN_MIRROR", "LLMBENCH_EXTRA_CASES"}

// others holds the variables of other programs that this module reads.
var others = []string{
	// The launchers of several processes, such as SLURM and Open MPI, number the processes.
	"JOB_COMPLETION_INDEX", "SLURM_PROCID", "SLURM_NTASKS", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
	// The credentials of AWS's own clients
	// (https://docs.aws.amazon.com/sdkref/latest/guide/environment-variables.html).
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_BEARER_TOKEN_BEDROCK",
}

// Names returns the names of all variables, sorted. They do not include the names in [Old].
func Names() []string { return slices.Sorted(slices.Values(slices.Concat(names, testNames))) }

// Nearest returns the name in names that is the fewest edits away from name, so that an error can suggest
// it. It ignores upper and lower case. It compares only the first 100 bytes of name, because the time that
// it takes grows with the length. Nearest panics if names is empty.
func Nearest(name string, names []string) string {
	name = strings.ToUpper(name[:min(len(name), 100)])
	distance := func(to string) int { return edits(name, strings.ToUpper(to)) }
	return slices.MinFunc(names, func(a, b string) int { return distance(a) - distance(b) })
}

// edits returns the Levenshtein distance of a and b in bytes: the number of insertions, deletions and
// replacements that turn one into the other (https://en.wikipedia.org/wiki/Levenshtein_distance).
func edits(a, b string) int {
	row := make([]int, len(b)+1) // row[j] is the distance between a[:i] and b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// known reports whether name is in the list.
func known(name string) bool { return slices.Contains(names, name) || slices.Contains(testNames, name) }

// ours reports whether a variable belongs to this module.
func ours(name string) bool { return strings.HasPrefix(name, prefix) }
