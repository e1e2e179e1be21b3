package records

import (
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	cmpAll = cmp.AllowUnexported(Request{}, gaps{})
	empty  = cmpopts.EquateEmpty()
)
