"""Samples of the languages that are read by their lines: see `samples`."""

from __future__ import annotations

from .sample import Sample

LINE_SAMPLES: tuple[Sample, ...] = (
    Sample(
        "lib/Shop/Session.pm",
        "perl",
        ("refresh", "Shop.Clock.clamp", "Shop.Session", "Shop.Clock", "LIFETIME", "VERSION", "app", "_hidden"),
        r"""package Shop::Session;
use v5.26;
use strict;
use parent 'Shop::Base';
use List::Util qw(max min);
use constant LIFETIME => 3600;

our $VERSION = '1.0';
has app => sub { 1 }, weak => 1;

=head1 METHODS

sub documented { not code }

=cut

# Moves the end further away.
sub refresh {
    my ($self, $now) = @_;
    my $help = <<"EOT";
sub printed {
}
EOT
    die "over: $self->{user}" if $now > $self->{expires};   # sub in a comment
    return $self->{expires} = $now + LIFETIME;
}

package Shop::Clock {
    sub clamp {
        my ($value, $low, $high) = @_;
        return min(max($value, $low), $high);
    }
}

sub _hidden ($self, %args) { $self->refresh(time) }

1;
__END__
sub after_the_end { }
""",
        imports=("strict", "Shop::Base", "List::Util", "constant"),
    ),
    Sample(
        "vars/Session.groovy",
        "groovy",
        (
            "call",
            "Session",
            "Session.LIFETIME",
            "Session.Session",
            "Session.refresh",
            "Session.of",
            "Level",
            "SessionSpec",
            "SessionSpec.a session is renewed",
            "docs",
        ),
        """#!/usr/bin/env groovy
import groovy.json.JsonSlurper
import static acme.Clock.now

/** Runs the steps of a build. */
def call(Map params = [:]) {
  if (params.quick) {
    return deploy(params)
  }
  node('linux') {
    sh "make ${params.target}"
  }
}

class Session extends Base implements Serializable {
  private static final int LIFETIME = 3600

  Session(String user) {
    this.user = user
  }

  // Moves the end further away.
  @Override
  Map<String, List<Integer>> refresh(long now = now(), Closure then) {
    expires = now + LIFETIME
  }

  static <T> T of(Class<T> type) {
    type.newInstance()
  }
}

enum Level { LOW, HIGH }

class SessionSpec extends Specification {
  def "a session is renewed"() {
    expect:
    session.refresh(1) == 2
  }
}

tasks.register("docs", Copy) {
  from 'docs'
}
""",
        imports=("groovy.json.JsonSlurper", "acme.Clock.now"),
    ),
    Sample(
        "src/Session.fs",
        "fsharp",
        (
            "Acme.Sessions",
            "Store",
            "Store.lifetime",
            "Store.refresh",
            "Store.(|Even|Odd|)",
            "Session",
            "Level",
            "Server",
            "Server.running",
            "Server.Start",
            "Server.Stop",
            "Server.Create",
            "Server.Dispose",
            "Expired",
            "loop",
            "again",
        ),
        """/// Keeps sessions.
module Acme.Sessions

open System
open System.Collections.Generic

(* let commented x = x *)
module Store =
    let lifetime = 3600

    /// Moves the end further away.
    [<Obsolete("let quoted x = x")>]
    let inline private refresh (now: int) (session: Session) : Session =
        let ends = now + lifetime
        { session with Expires = ends }

    let (|Even|Odd|) n = if n % 2 = 0 then Even else Odd

type Session = { User: string; Expires: int }

type Level =
    | Low
    | High of int

/// Serves.
type Server(port: int) =
    let mutable running = false
    member _.Start() = running
    member this.Stop(code: int) =
        this.Start() |> ignore
    static member Create() = Server(1)
    interface IDisposable with
        member this.Dispose() = ()

exception Expired of string

let rec loop x =
    again x
and again x = loop (x |> Store.refresh 1)
""",
        imports=("System", "System.Collections.Generic"),
    ),
    Sample(
        "autoload/session.vim",
        "vim",
        ("session.Refresh", "Clamp", "dict.method", "Session", "session", "lifetime"),
        """" Keeps sessions.
let g:lifetime = 3600
source session/util.vim

" Moves the end further away.
function! session#Refresh(now, ...) abort
  let l:end = s:Clamp(a:now)
  return call('s:Clamp', [l:end])
endfunction

function! s:Clamp(value) abort
  return a:value
endfunction

fun s:dict.method() dict
endf

command! -bang -nargs=? Session call session#Refresh(<q-args>)
augroup session
  autocmd!
  autocmd BufRead * call session#Refresh(1)
augroup END
""",
        imports=("session/util.vim",),
    ),
    Sample(
        "session.el",
        "emacs-lisp",
        (
            "session-lifetime",
            "session-user",
            "session-refresh",
            "session--clamp",
            "with-session",
            "session",
            "session-menu",
            "session-mode",
        ),
        r"""(require 'cl-lib)
(eval-when-compile (require 'subr-x))

(defvar session-lifetime 3600 "Seconds.")
(defcustom session-user nil
  "The user.
(defun quoted ())"
  :type 'string)

;;;###autoload
(defun session-refresh (session &optional now)
  "Move the end of SESSION further away."
  (interactive)
  (when (eq (char-after) ?\")
    (session--clamp now #'session-lifetime)))

(cl-defmethod session--clamp ((value number) low)
  (max value low))

(defmacro with-session (&rest body)
  "Run BODY."
  `(progn ,@body))

(cl-defstruct (session (:copier nil)) user expires)
(transient-define-prefix session-menu () "A menu." ["a"])
(define-minor-mode session-mode "Keep." :global t)
(provide 'session)
""",
        imports=("cl-lib", "subr-x"),
    ),
    Sample(
        "session.lisp",
        "lisp",
        ("acme", "*lifetime*", "session", "refresh", "stop", "with-session", "session-over", "expires"),
        r"""(defpackage #:acme
  (:use :cl :alexandria)
  (:export #:refresh))

(in-package :acme)

(defvar *lifetime* 3600 "Seconds.")

(defclass session (base)
  ((user :initarg :user))
  (:documentation "A signed-in user's session."))

#|
(defun commented () nil)
|#
(defun refresh (session &key now)
  "Moves the end further away."
  (if (char= now #\") (stop session) session))

(defgeneric stop (session)
  (:documentation "Ends it."))

(defmacro with-session ((var) &body body)
  `(let ((,var 1)) ,@body))

(define-condition session-over (error) ())

(defun (setf expires) (value session)
  value)
""",
        imports=("cl", "alexandria"),
    ),
    Sample(
        "session.scm",
        "scheme",
        ("(acme session).refresh", "(acme session)", "lifetime", "refresh!", "with-session", "session", "curried"),
        """(define-library (acme session)
  (export refresh)
  (import (scheme base) (srfi 1))
  (begin
    ;; Moves the end further away.
    (define (refresh session now)
      (clamp now lifetime))))

(define lifetime 3600)

(define (refresh! session . rest)
  (define (inner x) x)
  (refresh session 1))

(define-syntax with-session
  (syntax-rules () ((_ body) body)))

(define-record-type <session>
  (make-session user) session? (user session-user))

(define ((curried a) b) (+ a b))
""",
        imports=("scheme base", "srfi 1"),
    ),
    Sample(
        "session.rkt",
        "racket",
        ("lifetime", "refresh", "session", "with-session", "clamp"),
        """#lang racket/base
(require racket/list "clock.rkt")

(define lifetime 3600)

;; Moves the end further away.
(define (refresh session [now 1])
  (clamp now lifetime))

(struct session (user expires) #:transparent)

(define-syntax-rule (with-session body) body)

(define/contract (clamp value low)
  (-> number? number? number?)
  (max value low))
""",
        imports=("racket/list", "clock.rkt"),
    ),
    Sample(
        "src/session.nim",
        "nim",
        ("lifetime", "Session", "Level", "refresh", "clamp", "withSession", "`+`", "deploy"),
        """import std/[times, strutils], acme/clock
from acme/store import get, put

const lifetime* = 3600

type
  # A signed-in user's session.
  Session* = ref object of RootObj
    user*: string
  Level* = enum
    low, high

proc refresh*(session: Session, now: int,
              force = false): int {.raises: [].} =
  ## Moves the end further away.
  #[ proc commented() = discard ]#
  result = clamp(now)

func clamp[T](value: T): T = value

template withSession*(body: untyped) =
  body

proc `+`*(a, b: Session): Session =
  a

task deploy, "Deploys":
  exec "true"
""",
        imports=("std/times", "std/strutils", "acme/clock", "acme/store"),
    ),
    Sample(
        "functions/session.fish",
        "fish",
        ("session_refresh", "lifetime"),
        """# Moves the end further away.
function session_refresh --argument-names now
    if test $now -gt 1
        session_clamp "$now" # function in_a_comment
    end
end

set -g lifetime 3600
source (status dirname)/util.fish
""",
        imports=("status",),
    ),
    Sample(
        "src/session.adb",
        "ada",
        (
            "Acme.Sessions",
            "Acme.Sessions.Refresh",
            "Acme.Sessions.Session",
            "Acme.Sessions.Lifetime",
            "Acme.Sessions.Clamp",
        ),
        """with Ada.Text_IO;
with Acme.Clock;

package body Acme.Sessions is

   Lifetime : constant Integer := 3600;

   type Session is record
      Expires : Integer;
   end record;

   --  Moves the end further away.
   procedure Refresh (Self : in out Session;
                      Now  : Integer)
   is
      Ends : Integer;
   begin
      Ends := Clamp (Now);
   end Refresh;

   function Clamp (Value : Integer) return Integer is (Value);

end Acme.Sessions;
""",
        imports=("Ada.Text_IO", "Acme.Clock"),
    ),
    Sample(
        "boot/session.asm",
        "assembly",
        ("refresh", "clamp", "save", "LIFETIME"),
        """%include "clock.inc"
%define LIFETIME 3600

; Moves the end further away.
refresh:
    push rbp
.again:
    call clamp
    ret

clamp:
    ret

%macro save 1
    push %1
%endmacro
""",
        imports=("clock.inc",),
    ),
    Sample(
        "src/session.cr",
        "crystal",
        (
            "Acme",
            "Acme.Session",
            "Acme.Session.LIFETIME",
            "Acme.Session.user",
            "Acme.Session.refresh",
            "Acme.Session.over?",
            "Acme.Level",
        ),
        """require "json"
require "./clock"

module Acme
  # A signed-in user's session.
  class Session < Base
    LIFETIME = 3600
    property user : String

    # Moves the end further away.
    def refresh(now : Int32) : Int32
      text = <<-EOT
        def printed
        EOT
      @expires = clamp(now)
    end

    def self.over?(session)
      session.refresh 1
    end
  end

  enum Level
    Low
  end
end
""",
        imports=("json", "./clock"),
    ),
    Sample(
        "src/session.pyx",
        "cython",
        ("Session", "Session.refresh", "Session.clamp", "Session.user", "point", "LIFETIME", "fast_clamp"),
        '''cimport cython
from libc.math cimport sqrt, fabs
from acme.clock import now

LIFETIME = 3600

cdef struct point:
    int x

@cython.final
cdef class Session(Base):
    """A signed-in user's session."""
    cdef int expires

    cpdef int refresh(self, int now) except -1:
        """Moves the end further away."""
        self.expires = self.clamp(now)
        return fast_clamp(now, 1)

    cdef inline object clamp(self, value):
        return value

    def user(self):
        return self._user

cdef double fast_clamp(double value,
                       double low) nogil:
    return value
''',
        imports=("cython", "libc.math", "acme.clock"),
    ),
    Sample(
        "justfile",
        "just",
        ("build", "deploy", "version", "b"),
        """version := "1.0"
alias b := build

# Builds it.
build target='all': clean
    make {{target}}

[confirm]
@deploy: (build "x")
    ./deploy
""",
    ),
    Sample(
        "session.m",
        "matlab",
        ("refresh", "clamp"),
        """function ends = refresh(session, now)
% Moves the end further away.
ends = clamp(now, 1);
if ends > 1
    disp('function quoted(x)')
end
end

function value = clamp(value, low)
    value = max(value, low);
end
""",
    ),
    Sample(
        "src/Session.pas",
        "pascal",
        (
            "Acme.Session",
            "TSession",
            "TSession.Refresh",
            "TSession.User",
            "TSession.Create",
            "TLevel",
            "Lifetime",
            "Clamp",
        ),
        """unit Acme.Session;

interface

uses
  System.SysUtils, {$IFDEF FPC} Classes, {$ENDIF}
  Acme.Clock;

const
  Lifetime = 3600;

type
  TLevel = (Low, High);

  { A signed-in user's session. }
  TSession = class(TBase)
  private
    FUser: string;
  public
    constructor Create;
    function Refresh(const ANow: Integer): Integer;
    property User: string read FUser;
  end;

implementation

// Moves the end further away.
function TSession.Refresh(const ANow: Integer): Integer;
var
  Ends: Integer;
begin
  Ends := Clamp(ANow);
  Result := Ends;
end;

procedure Clamp(Value: Integer);
begin
end;

constructor TSession.Create;
begin
end;

end.
""",
        imports=("System.SysUtils", "Classes", "Acme.Clock"),
    ),
    Sample(
        "manifests/session.pp",
        "puppet",
        ("acme.session", "acme.vhost", "acme.clamp"),
        """# Keeps sessions.
class acme::session (
  Integer $lifetime = 3600,
) inherits acme {
  include acme::clock
  acme::vhost { 'example':
    port => 80,
  }
}

define acme::vhost (Integer $port) {
  notice(acme::clamp($port))
}

function acme::clamp(Integer $value) >> Integer {
  $value
}
""",
        imports=("acme::clock",),
    ),
    Sample(
        "session.tcl",
        "tcl",
        ("acme", "acme.refresh", "Session", "Session.clamp"),
        """package require Tcl 8.6
source clock.tcl

namespace eval ::acme {
    variable lifetime 3600
}

# Moves the end further away.
proc ::acme::refresh {session {now 0}} {
    # proc commented {} {}
    if {$now > 1} {
        return [clamp $now]
    }
}

oo::class create Session {
    method clamp {value} {
        return $value
    }
}
""",
        imports=("Tcl", "clock.tcl"),
    ),
    Sample(
        "Session.vb",
        "vb",
        ("Acme", "Acme.Session", "Acme.Session.Refresh", "Acme.Session.User", "Acme.Session.Clamp", "Acme.Level"),
        """Imports System.Text

Namespace Acme
    ' A signed-in user's session.
    Public Class Session
        ' Moves the end further away.
        Public Function Refresh(now As Integer) As Integer
            Return Clamp(now)
        End Function

        Public Property User As String
            Get
                Return _user
            End Get
        End Property

        Private Sub Clamp(value As Integer)
        End Sub
    End Class

    Enum Level
        Low
    End Enum
End Namespace
""",
        imports=("System.Text",),
    ),
    Sample(
        "rtl/session.sv",
        "verilog",
        (
            "acme_pkg",
            "acme_pkg.LIFETIME",
            "acme_pkg.level_e",
            "acme_pkg.clamp",
            "session",
            "WIDTH",
            "session.Depth",
            "driver",
            "driver.stop",
            "driver.new",
            "driver.refresh",
        ),
        """`include "clock.svh"
`define WIDTH 8

package acme_pkg;
  localparam int LIFETIME = 3600;
  typedef enum logic [1:0] {
    LOW,
    HIGH
  } level_e;

  // Keeps a value within its bounds.
  function automatic int clamp(int value);
  return value;
  endfunction : clamp
endpackage

import acme_pkg::*;

module session #(
  parameter int Depth = 2
) (
  input logic clk
);
  clock #(.W(1)) u_clock (.clk);
  always_ff @(posedge clk) q <= clamp(1);
endmodule

class driver extends uvm_driver;
  extern function void stop();
  function new(string name);
    super.new(name);
  endfunction
  virtual task refresh(input int now);
    clamp(now);
  endtask
endclass
""",
        imports=("clock.svh", "acme_pkg"),
    ),
    Sample(
        "rtl/session.vhd",
        "vhdl",
        ("acme", "acme.lifetime", "acme.level_t", "acme.clamp", "session", "rtl", "rtl.main"),
        """library ieee;
use ieee.std_logic_1164.all;

package body acme is
  constant lifetime : integer := 3600;
  type level_t is (low, high);

  -- Keeps a value within its bounds.
  function clamp(value : integer;
                 low : integer) return integer is
  begin
    return value;
  end function;
end package body;

entity session is
  port (clk : in std_logic);
end entity;

architecture rtl of session is
begin
  main : process(clk)
  begin
    q <= clamp(1, 2);
  end process;
  u_clock : entity work.clock port map (clk => clk);
end architecture;
""",
        imports=("ieee.std_logic_1164",),
    ),
)
