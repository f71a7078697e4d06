package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
)

// entry is a file in an archive or image, or a directory if the name ends with a slash.
type entry struct {
	name    string
	mode    uint32 // as in a tar file
	content []byte
}

// tarball packs entries in their order, reproducibly.
func tarball(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, e := range entries {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Mode: int64(e.mode), Size: int64(len(e.content)), ModTime: epoch}); err != nil {
			return nil, err
		}
		_, _ = w.Write(e.content) // into memory; Close reports a wrong size
	}
	err := w.Close()
	return packed.Bytes(), err
}

// compressed returns a gzipped tar file.
func compressed(entries []entry) ([]byte, error) {
	packed, err := tarball(entries)
	var small bytes.Buffer
	w, _ := gzip.NewWriterLevel(&small, gzip.BestCompression) // a valid level
	_, _ = w.Write(packed)                                    // into memory
	_ = w.Close()
	return small.Bytes(), err
}

// zipped returns a zip file, for Windows.
func zipped(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(fs.FileMode(e.mode))
		file, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		_, _ = file.Write(e.content) // into memory
	}
	err := w.Close()
	return packed.Bytes(), err
}
