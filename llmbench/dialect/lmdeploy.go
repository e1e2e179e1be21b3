package dialect

// LMDeploy is the native API of LMDeploy (/generate,
// https://lmdeploy.readthedocs.io). Its events have the form of SGLang's events,
// but always with only the new text.
type LMDeploy struct{}

// Name returns "lmdeploy".
func (LMDeploy) Name() string { return "lmdeploy" }

// Path returns "/generate".
func (LMDeploy) Path(Query) string { return "/generate" }

// Body returns the JSON body for q, which must not be a conversation.
func (d LMDeploy) Body(q Query) ([]byte, error) { return generateBody(d.Name(), q, false) }

// NewParser returns a parser for the answers of this dialect.
func (d LMDeploy) NewParser() Parser { return newGenerateParser(d.Name(), newTexts) }
