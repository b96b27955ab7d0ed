package store

import "context"

// Janitor removes what interrupted uploads left behind.
func (s *S3) Janitor(ctx context.Context) error {
	for _, upload := range s.abandoned(ctx) {
		if err := s.abort(ctx, upload); err != nil {
			return err
		}
	}
	return nil
}
