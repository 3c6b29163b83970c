package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
)

// startProfile has skarv profile itself while the sections run; b.profiled tells how that ended.
func (b *bench) startProfile(ctx context.Context) {
	b.profiled = make(chan error, 1)
	go func() { b.profiled <- b.takeProfile(ctx) }()
}

const profileSeconds = 90

func (b *bench) takeProfile(ctx context.Context) error {
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", b.skarv.http, profileSeconds)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	f, err := os.Create(b.profile)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, resp.Body); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
