package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
)

// entry is a file in an archive or image, or a directory if the mode says so.
type entry struct {
	name    string // with slashes
	mode    fs.FileMode
	content []byte
}

// tarball packs entries in their order, reproducibly.
func tarball(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, e := range entries {
		header := tar.Header{Name: e.name, Typeflag: tar.TypeReg, Mode: int64(e.mode.Perm()), Size: int64(len(e.content)), ModTime: epoch, Format: tar.FormatUSTAR}
		if e.mode.IsDir() {
			header.Name, header.Typeflag = e.name+"/", tar.TypeDir
		}
		if e.mode&fs.ModeSticky != 0 {
			header.Mode |= 0o1000
		}
		if err := w.WriteHeader(&header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return packed.Bytes(), err
}

// compressed returns a gzipped tar file.
func compressed(entries []entry) ([]byte, error) {
	packed, err := tarball(entries)
	var small bytes.Buffer
	w, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // a valid level
	_, written := w.Write(packed)
	err = errors.Join(err, written, w.Close())
	return small.Bytes(), err
}

// zipped returns a zip file, for Windows.
func zipped(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(e.mode)
		file, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return packed.Bytes(), err
}
