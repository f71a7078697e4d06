package exchange

import "sync"

// maxBuffer is the largest buffer that is kept: a page of 500 full accounts has about half a megabyte.
const maxBuffer = 1 << 20

// buffers reuses the memory of pages.
type buffers struct{ pool sync.Pool }

func (b *buffers) get() []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok {
		return (*kept)[:0]
	}
	return nil
}

func (b *buffers) put(used []byte) {
	if cap(used) <= maxBuffer {
		b.pool.Put(&used)
	}
}
