package main

import "os"

// sizeRows compares two small programs, stripped.
func sizeRows(int) ([]row, error) {
	built, remove, err := buildPrograms("sizeplain", "sizeclient")
	if err != nil {
		return nil, err
	}
	defer remove()
	plain, err := os.Stat(built["sizeplain"])
	if err != nil {
		return nil, err
	}
	client, err := os.Stat(built["sizeclient"])
	if err != nil {
		return nil, err
	}
	more := float64(client.Size() - plain.Size())
	r := bounded("size of a small program, stripped", more, 1.82e6, megabytes)
	r.baseline, r.ours = megabytes(float64(plain.Size())), megabytes(float64(client.Size()))
	r.ratio, r.goal = "+"+megabytes(more), "<= +1.82 MB"
	return []row{r.counted()}, nil
}
