package state

import (
	"encoding/binary"

	"go.etcd.io/bbolt"
)

// DB is the state of a host.
type DB struct{ file *bbolt.DB }

// Put writes a record under its sequence number.
func (d *DB) Put(kind string, sequence uint64, value []byte) error {
	return d.file.Update(func(tx *bbolt.Tx) error {
		key := binary.BigEndian.AppendUint64(nil, sequence)
		return tx.Bucket([]byte(kind)).Put(key, append([]byte{1}, value...))
	})
}
