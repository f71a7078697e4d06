// Package closed opens journals.
package closed

import (
	"context"
	"errors"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

func never(ctx context.Context, c *prepaid.Client, path string) error {
	j, err := journalfile.Open(path, journalfile.Options{}) // want `the journal is not closed on some path`
	if err != nil {
		return err
	}
	for _, err := range j.Resume(ctx, c.Accounts, 4) {
		if err != nil {
			return err
		}
	}
	return nil
}

func onOnePath(path string, id prepaid.RequestID) error {
	j, err := journalfile.Open(path, journalfile.Options{}) // want `the journal is not closed on some path`
	if err != nil {
		return err
	}
	if err := j.Retry(id); err != nil {
		return err
	}
	return j.Close()
}

func deferred(path string, id prepaid.RequestID) (err error) {
	j, err := journalfile.Open(path, journalfile.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	return j.Retry(id)
}

func always(path string, id prepaid.RequestID) error {
	j, err := journalfile.Open(path, journalfile.Options{})
	if err != nil {
		return err
	}
	return errors.Join(j.Retry(id), j.Close())
}

type service struct{ j *journalfile.Journal }

func kept(path string) (*service, error) {
	j, err := journalfile.Open(path, journalfile.Options{})
	if err != nil {
		return nil, err
	}
	return &service{j}, nil
}

func optional(path string, id prepaid.RequestID) (err error) {
	var j *journalfile.Journal
	if path != "" {
		if j, err = journalfile.Open(path, journalfile.Options{}); err != nil {
			return err
		}
	}
	if j == nil {
		return nil
	}
	return errors.Join(j.Retry(id), j.Close())
}

func compared(path string) (n int, err error) {
	j, err := journalfile.Open(path, journalfile.Options{}) // want `the journal is not closed on some path`
	if err != nil {
		return 0, err
	}
	if j != nil {
		for range j.All() {
			n++
		}
	}
	return n, nil
}
