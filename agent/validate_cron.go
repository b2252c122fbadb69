package agent

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func (t *tally) patchCron(o *PatchCron) error {
	if err := firstOf(ValidID("key", o.Key), settleSpecs("specs", &o.Specs, true)); err != nil {
		return err
	}
	t.bytes += len(o.Key) + len(o.Specs)
	return nil
}

// settleSchedules judges the jobs that a manager declares. None is nil.
func settleSchedules(specs *JSON) error {
	if isNull(*specs) {
		*specs = nil
		return nil
	}
	if err := settleSpecs("schedules", specs, false); err != nil {
		return err
	}
	if len(*specs) == len(emptyObject) {
		*specs = nil
	}
	return nil
}

// settleSpecs judges jobs, and writes each as manifests keep it. A null cancels
// one, where that means something.
func settleSpecs(field string, specs *JSON, cancels bool) error {
	compact, err := CompactObject(field, *specs)
	if err != nil {
		return err
	}
	out, count := append(make([]byte, 0, len(compact)), '{'), 0
	err = members(compact, func(rawName []byte, value JSON) error {
		job, err := unquote(rawName)
		if err != nil {
			return Invalid(field, "%s: %v", field, err)
		}
		if count++; count > CronSpecsMax {
			return TooLarge(field, "cron_specs_max", count, CronSpecsMax)
		}
		if cancels && isNull(value) {
			out = appendMember(out, rawName, value)
			return validJob(field, job)
		}
		spec, err := settleSpec(field, job, value)
		if err != nil {
			return err
		}
		out = appendMember(out, rawName, spec.json())
		return nil
	})
	if err != nil {
		return err
	}
	if out = append(out, '}'); !bytes.Equal(out, *specs) { // see replace
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

// settleSpec judges one job as its timer is judged.
func settleSpec(field, job string, raw JSON) (CronSpec, error) {
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
	case spec.Job == "": // it is not of the form at all
		return spec, Invalid(at, "job %q: %v", job, err)
	case isNull(spec.Message):
		return spec, Invalid(at+".message", "job %q needs a message: any JSON value but null", job)
	default:
		return spec, Invalid(at+".cron_expression", "job %q needs a cron_expression, such as \"0 9 * * 1-5\"", job)
	}
}

// validate judges what a job's shape does not tell. Errors name its fields
// under at.
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

// Playable tells whether a job that was stored can be fired: the nodes' zones
// may not be those of whoever stored it.
func (s *CronSpec) Playable() error { return s.validate("specs." + s.Job) }
