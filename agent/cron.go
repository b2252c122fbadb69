package agent

import (
	"bytes"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"dormouse/internal/compactjson"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// StateCronKey is the member of a state that holds the agent's recurring jobs: the
// manifest, {job: spec}. PatchCron changes single jobs of it.
const StateCronKey = "__cron_specs__"

// SignalCron is the type of the signal that changes an instance's manifest. It runs as
// a turn of its own, without a handler. Its data has the form of PatchCron.Specs.
const SignalCron = StateCronKey

// CronTimerPrefix begins the timer ids of an instance's recurring jobs.
const CronTimerPrefix = "cron:"

// CronSpec is a recurring job, as stored in a manifest.
type CronSpec struct {
	Job        string
	Expression string // as Timer.Cron
	TimeZone   string // an IANA name; "" means Etc/UTC
	Message    JSON   // what the job sends; see Timer
	Missed     Missed // "" means MissedSkip
	CatchUp    uint64 // of MissedCatchUp; 0 means TimerCatchUpDefault
}

// PatchCron changes single jobs in the manifest of a checkpoint's state, and nothing
// else in it. If there is no checkpoint, it creates one that holds only the manifest.
// Malformed stored jobs are dropped, and an empty manifest is removed. A patch that
// changes nothing makes no revision.
//
// If the checkpoint is an instance's, the timers of its jobs change in the same
// commit. A job that the instance's manager declares cannot be set: that is a
// conflict.
type PatchCron struct {
	Key           string // of the checkpoint
	Specs         JSON   // {job: {cron_expression, message, timezone?, missed?, catch_up?}}, or null to cancel; cancelling an unknown job succeeds
	IfRevision    *uint64
	IfIncarnation uint64
}

// cronDoc is the JSON form of a job in a manifest.
type cronDoc struct {
	Expression string         `json:"cron_expression"`
	Message    jsontext.Value `json:"message"`
	TimeZone   string         `json:"timezone"`
	Missed     Missed         `json:"missed"`
	CatchUp    uint64         `json:"catch_up"`
}

// defaultZone is the time zone of a job that names none.
const defaultZone = "Etc/UTC"

// readSpec parses a job. It checks the shape only. Validate checks the expression and
// the zone of a new job; Playable those of a stored one.
func readSpec(job string, raw JSON, options ...json.Options) (CronSpec, error) {
	var doc cronDoc
	if err := json.Unmarshal(raw, &doc, options...); err != nil {
		return CronSpec{}, err
	}
	spec := CronSpec{
		Job: job, Expression: doc.Expression, TimeZone: doc.TimeZone, Message: JSON(doc.Message), Missed: doc.Missed, CatchUp: doc.CatchUp,
	}
	switch {
	case len(raw) == 0 || raw[0] != '{':
		return spec, errors.New("a job must be a JSON object")
	case ValidKey("job", job) != nil || len(job) > CronJobBytesMax:
		return spec, errors.New("the job id is invalid")
	case spec.Expression == "" || len(spec.Expression) > cronTextMax || len(spec.TimeZone) > cronTextMax:
		return spec, errors.New("cron_expression is missing, or a text is too long")
	case compactjson.IsNull(spec.Message):
		return spec, errors.New("message is missing")
	}
	if spec.TimeZone == "" {
		spec.TimeZone = defaultZone
	}
	return spec, nil
}

// cronTextMax is far longer than any useful expression or zone name.
const cronTextMax = 1 << 10

// json returns the job as stored in a manifest.
func (s *CronSpec) json() JSON {
	quote := func(text string) []byte {
		quoted, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			return []byte(`""`) // unreachable: text that is not UTF-8 was refused before
		}
		return quoted
	}
	out := append([]byte(`{"cron_expression":`), quote(s.Expression)...)
	out = append(append(out, `,"message":`...), s.Message...)
	out = append(append(out, `,"timezone":`...), quote(s.TimeZone)...)
	if s.Missed != "" {
		out = append(append(out, `,"missed":`...), quote(string(s.Missed))...)
	}
	if s.CatchUp != 0 {
		out = strconv.AppendUint(append(out, `,"catch_up":`...), s.CatchUp, 10)
	}
	return append(out, '}')
}

// Timer returns the timer that fires the job of an instance. A message of the form
// {"type": …, "data": {…}} gives the signal's type and data. Any other is sent as
// a signal of type timer with {"job", "message"}.
func (s *CronSpec) Timer(manager, key string) Timer {
	t := Timer{
		Manager: manager, Key: key, ID: CronTimerPrefix + s.Job, Cron: s.Expression, TimeZone: s.TimeZone, Missed: s.Missed, CatchUp: s.CatchUp,
	}
	if t.Missed == "" {
		t.Missed = MissedSkip
	}
	if t.Missed == MissedCatchUp && t.CatchUp == 0 {
		t.CatchUp = TimerCatchUpDefault
	}
	if t.Type, t.Data = signalIn(s.Message); t.Type != "" {
		return t
	}
	job, _ := jsontext.AppendQuote(nil, s.Job)
	t.Type = SignalTimer
	t.Data = append(append(append(append(JSON(`{"job":`), job...), `,"message":`...), s.Message...), '}')
	return t
}

// signalIn returns the signal that a message describes; kind is "" if it describes
// none.
func signalIn(message JSON) (kind string, data JSON) {
	var doc struct {
		Type string         `json:"type"`
		Data jsontext.Value `json:"data"`
	}
	if message[0] != '{' || json.Unmarshal(message, &doc, json.RejectUnknownMembers(true)) != nil {
		return "", nil
	}
	switch {
	case doc.Data == nil:
		return doc.Type, emptyObject
	case doc.Data[0] != '{':
		return "", nil
	default:
		return doc.Type, JSON(doc.Data)
	}
}

// CronChange is one member of PatchCron.Specs: a job to set or cancel.
type CronChange struct {
	Job string
	Set *CronSpec // nil cancels
}

// CronChanges parses PatchCron.Specs, in its order.
func CronChanges(specs JSON) (changes []CronChange, err error) {
	if len(specs) == 0 || specs[0] != '{' {
		return nil, Invalid("specs", "specs must be a JSON object: {job: spec or null}")
	}
	err = compactjson.Members(specs, func(rawName, value []byte) error {
		job, err := compactjson.Unquote(rawName)
		if err != nil {
			return err
		}
		change := CronChange{Job: job}
		if !compactjson.IsNull(value) {
			spec, err := readSpec(job, value)
			if err != nil {
				return Invalid("specs."+job, "job %q: %v", job, err)
			}
			change.Set = &spec
		}
		changes = append(changes, change)
		return nil
	})
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		return nil, Invalid("specs", "specs must be a JSON object: %v", err)
	}
	return changes, err
}

// InstanceOf returns the instance that a checkpoint key belongs to; ok is false if it
// is not an instance's. It is the inverse of InstanceRef.Checkpoint, within a scope.
func InstanceOf(checkpoint string) (manager, key string, ok bool) {
	rest, ok := strings.CutPrefix(checkpoint, instancesPrefix)
	if !ok {
		return "", "", false
	}
	escaped, key, ok := strings.Cut(rest, "/")
	if !ok || key == "" {
		return "", "", false
	}
	manager, err := url.PathUnescape(escaped)
	return manager, key, err == nil && instancePrefix(manager)+key == checkpoint
}

func (o *PatchCron) validateOp(t *tally) error {
	if err := firstOf(ValidID("key", o.Key), normalizeSpecs("specs", &o.Specs, true)); err != nil {
		return err
	}
	t.bytes += len(o.Key) + len(o.Specs)
	return nil
}

// normalizeSchedules validates the jobs that a manager declares. Without jobs it sets
// specs to nil.
func normalizeSchedules(specs *JSON) error {
	if compactjson.IsNull(*specs) {
		*specs = nil
		return nil
	}
	if err := normalizeSpecs("schedules", specs, false); err != nil {
		return err
	}
	if len(*specs) == len(emptyObject) {
		*specs = nil
	}
	return nil
}

// normalizeSpecs validates jobs and rewrites each as manifests store it. If cancels is
// set, null cancels a job.
func normalizeSpecs(field string, specs *JSON, cancels bool) error {
	compact, err := CompactObject(field, *specs)
	if err != nil {
		return err
	}
	out, count := append(make([]byte, 0, len(compact)), '{'), 0
	err = compactjson.Members(compact, func(rawName, value []byte) error {
		job, err := compactjson.Unquote(rawName)
		if err != nil {
			return Invalid(field, "%s: %v", field, err)
		}
		if count++; count > CronSpecsMax {
			return TooLarge(field, "cron_specs_max", count, CronSpecsMax)
		}
		if cancels && compactjson.IsNull(value) {
			out = compactjson.AppendMember(out, rawName, value)
			return validJob(field, job)
		}
		spec, err := normalizeSpec(field, job, value)
		if err != nil {
			return err
		}
		out = compactjson.AppendMember(out, rawName, spec.json())
		return nil
	})
	if err != nil {
		return err
	}
	if out = append(out, '}'); !bytes.Equal(out, *specs) { // an assignment only on change: see replace
		*specs = out
	}
	return nil
}

func validJob(field, job string) error {
	if len(job) > CronJobBytesMax {
		return TooLarge(field, "cron_job_bytes_max", len(job), CronJobBytesMax)
	}
	return ValidID(field, job)
}

// normalizeSpec validates one job, with the rules of its timer.
func normalizeSpec(field, job string, raw JSON) (CronSpec, error) {
	if err := validJob(field, job); err != nil {
		return CronSpec{}, err
	}
	at := field + "." + job
	if raw[0] != '{' {
		return CronSpec{}, Invalid(at, "job %q must be an object, {cron_expression, message, timezone?}, not a %s", job, jsontext.Value(raw).Kind())
	}
	spec, err := readSpec(job, raw, json.RejectUnknownMembers(true))
	switch {
	case err == nil:
		return spec, spec.validate(at)
	case spec.Job == "": // it does not have the form of a job
		return spec, Invalid(at, "job %q: %v", job, err)
	case compactjson.IsNull(spec.Message):
		return spec, Invalid(at+".message", "job %q needs a message: any JSON value but null", job)
	default:
		return spec, Invalid(at+".cron_expression", "job %q needs a cron_expression, such as \"0 9 * * 1-5\"", job)
	}
}

// validate checks a job's expression, zone and message. Errors name its fields below
// at.
func (s *CronSpec) validate(at string) error {
	t := s.Timer("m", "k")
	err := new(tally).putTimer(&t)
	var e *Error
	if errors.As(err, &e) {
		switch e.Field {
		case "cron":
			e.Field = "cron_expression"
		case "time_zone":
			e.Field = "timezone"
		case "type", "data":
			e.Field = "message"
		}
		e.Field = at + "." + e.Field
	}
	return err
}

// Playable returns an error if a stored job cannot be fired: this node's time zones
// may differ from those of the node that stored it.
func (s *CronSpec) Playable() error { return s.validate("specs." + s.Job) }
