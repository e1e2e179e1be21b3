package env

// registered holds the functions that read the variables of each package.
var registered []func(*Reader)

// Register registers a function that reads and checks the variables that a package uses. [Check] calls it.
// A package calls Register from its init function.
func Register(read func(*Reader)) { registered = append(registered, read) }

// Check reads the variables of every package that called [Register], from an environment in the form of
// [os.Environ]. The error names each variable with an invalid value, its value, and what is allowed.
func Check(environ []string) error {
	r := NewReader(environ)
	for _, read := range registered {
		read(r)
	}
	return r.Err()
}

// Comparison is the variable that benchgate sets for the processes whose results it compares. A benchmark must then measure
// the same in each of them, and leave out no load because of what another one showed.
const Comparison = "BENCHGATE"
