"""Samples of languages that came last: see `samples`."""

from __future__ import annotations

from .sample import Sample

NEWER_SAMPLES: tuple[Sample, ...] = (
    Sample(
        "player/session.gd",
        "gdscript",
        ("refresh", "Inner", "Level"),
        """class_name Session extends Node2D

const Clock = preload("res://clock.gd")
const LIFETIME = 3600
@export var user := "nobody"
signal over(user)

enum Level { LOW, MIDDLE, HIGH, HIGHER, HIGHEST, TOP, ABOVE, BEYOND, OUT_OF_SIGHT, UNKNOWN }

## Moves the end further away.
func refresh(delta: float) -> void:
	if delta > LIFETIME:
		over.emit(user)
	expires = Clock.clamp(delta, 0, LIFETIME)
	self.save(expires)

class Inner:
	func save(value, low, high):
		return Clock.clamp(value, low, high) + Clock.clamp(high, low, value)

func _init():
	pass
""",
        imports=("res://clock.gd",),
    ),
    Sample(
        "rules/session.bzl",
        "bazel",
        ("_session_impl", "session_test"),
        '''"""Rules for sessions."""

load("@bazel_skylib//lib:paths.bzl", "paths")
load(":clock.bzl", "clamp")

LIFETIME = 3600

def _session_impl(ctx):
    """Builds a session."""
    out = ctx.actions.declare_file(paths.join(ctx.label.name, "session.txt"))
    ctx.actions.write(out, clamp(LIFETIME, 0, 10))
    return [DefaultInfo(files = depset([out]))]

session = rule(implementation = _session_impl, attrs = {"user": attr.string()})

py_test(
    name = "session_test",
    srcs = ["session_test.py", "clock_test.py", "clamp_test.py", "user_test.py", "level_test.py"],
    data = ["//testing:data", "//testing:more_data", "//testing:even_more_data", "//testing:config"],
    deps = ["//session:lib", "//session:clock", "//session:clamp", "//session:user", "@pip//pytest"],
    size = "small", timeout = "short", visibility = ["//visibility:public"], tags = ["manual", "local"],
)
''',
        imports=("@bazel_skylib//lib:paths.bzl", ":clock.bzl"),
    ),
    Sample(
        "src/session.cu",
        "cuda",
        ("refresh", "Session", "launch"),
        """#include <cuda_runtime.h>
#include "clock.cuh"

struct Session {
  float expires;
  float lifetime;
  int user, level, group, low, high;
};

// Moves the end further away.
__global__ void refresh(Session *sessions, float now, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    sessions[i].expires = clamp(now, sessions[i].lifetime);
  }
}

void launch(Session *sessions, int count) {
  refresh<<<count / 256, 256>>>(sessions, 1.0f, count);
  cudaDeviceSynchronize();
  check(cudaGetLastError());
}
""",
        imports=("cuda_runtime.h", "clock.cuh"),
    ),
    Sample(
        "shaders/session.frag",
        "glsl",
        ("Light", "shade", "main"),
        """#version 330 core
#include "noise.glsl"
#define LEVELS 4

uniform float time;
in vec2 uv;

struct Light {
  vec3 position;
  vec3 colour;
  float strength, radius, falloff, near, far;
};

/* Darkens what is far away. */
vec3 shade(in Light light, vec3 normal, float depth) {
  float d = max(dot(normal, light.position), 0.0);
  return light.colour * d * noise(depth) / LEVELS;
}

void main() {
  Light light = Light(vec3(0.0), vec3(1.0), 1.0, 2.0, 3.0, 0.1, 100.0);
  gl_FragColor = vec4(shade(light, vec3(uv, time), uv.x), 1.0);
}
""",
        imports=("noise.glsl",),
    ),
    Sample(
        "shaders/session.hlsl",
        "hlsl",
        ("Light", "Shade", "Main"),
        """#include "noise.hlsli"

cbuffer Constants : register(b0) {
  float4x4 world;
};

struct Light {
  float3 position : POSITION;
  float3 colour : COLOR;
  float strength, radius, falloff, near, far;
};

// Darkens what is far away.
float3 Shade(Light light, float3 normal, float depth) {
  float d = max(dot(normal, light.position), 0.0);
  return light.colour * d * Noise(depth);
}

float4 Main(Light light, float2 uv) {
  float3 shaded = Shade(light, float3(uv, 1.0), uv.x);
  return float4(saturate(shaded * light.strength), 1.0);
}
""",
        imports=("noise.hlsli",),
    ),
    Sample(
        "source/session.d",
        "d",
        ("Session", "clamp", "Session.refresh"),
        """module acme.session;

import std.stdio, acme.clock : now;
import std.algorithm;

/// A signed-in user's session.
class Session : Base, Closeable {
  private int expires;
  enum lifetime = 3600;

  this(string user) {
    this.user = user;
  }

  /** Moves the end further away. */
  void refresh(int now) {
    if (now > expires)
      throw new Exception("over: " ~ user);
    expires = clamp(now + lifetime, 0, int.max);
  }

  @property bool over() const { return expires < now; }
}

T clamp(T)(T value, T low, T high) if (is(T : int)) {
  writeln("clamped ", value, " to ", low, " and ", high);
  return min(max(value, low), high);
}
""",
        imports=("std.stdio", "acme.clock", "std.algorithm"),
    ),
)
