package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/halyard/halyardd/internal/config"
	"github.com/halyard/halyardd/internal/engine"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	settings, err := config.Load("/etc/halyard/halyard.toml")
	if err != nil {
		slog.Error("read configuration", "error", err)
		os.Exit(2)
	}
	if err := engine.New(settings, slog.Default()).Run(ctx); err != nil {
		os.Exit(1)
	}
}
