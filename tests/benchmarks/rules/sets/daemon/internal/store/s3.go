package store

import (
	"context"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// S3 keeps chunks in a bucket.
type S3 struct {
	client *s3.Client
	bucket string
	prefix string
}

// Put uploads a chunk with its checksum.
func (s *S3) Put(ctx context.Context, key string, body io.Reader, sum string) error {
	name := s.prefix + key
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &s.bucket, Key: &name, Body: body, ChecksumSHA256: &sum})
	return classify(err)
}
