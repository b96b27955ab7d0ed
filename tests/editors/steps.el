;;; steps.el --- What a person does in Emacs -*- lexical-binding: t -*-

(load (expand-file-name "steps-common.el" (file-name-directory load-file-name)) nil t)

(defvar steps-messages nil)

(advice-add 'eglot--message :before
            (lambda (format &rest values) (push (apply #'format format values) steps-messages)))

(defun steps-ask (method params)
  (jsonrpc-request (eglot-current-server) method params :timeout 60))

(defun steps-symbols (query)
  (mapcar #'xref-item-summary (xref-backend-apropos 'eglot query)))

(defun steps-named (name query)
  (seq-some (lambda (summary) (string-match-p name summary)) (steps-symbols query)))

(defun steps ()
  (find-file "src/cart.py")
  (apply #'eglot--connect (eglot--guess-contact))
  (steps-wait "the index" (lambda () (steps-named "total_price" "total price")))
  (steps-type-zebra)
  (eglot--signal-textDocument/didChange)
  (let ((unsaved (steps-wait "unsaved text" (lambda () (steps-named "count_zebra_stripes" "zebra stripes"))))
        actions hover)
    (goto-char (point-min))
    (search-forward "def total_price")
    (let ((place (eglot--TextDocumentPositionParams))
          ;; The docstring: code is no note.
          (range (list :start (eglot--pos-to-lsp-position (line-beginning-position 2))
                       :end (eglot--pos-to-lsp-position (line-end-position 2)))))
      (setq actions (append (steps-ask :textDocument/codeAction
                                       (list :textDocument (eglot--TextDocumentIdentifier)
                                             :range range :context '(:diagnostics [])))
                            nil))
      (let ((command (plist-get (car actions) :command)))
        (eglot-execute-command (eglot-current-server) (intern (plist-get command :command))
                               (plist-get command :arguments)))
      (setq hover (steps-wait "a hover"
                              (lambda ()
                                (let* ((answer (steps-ask :textDocument/hover place))
                                       (text (plist-get (plist-get answer :contents) :value)))
                                  (and text (string-match-p "Memories" text) text))))))
    `((unsaved . ,(and unsaved t)) (modified . ,(and (buffer-modified-p) t)) (hover . ,hover)
      (actions . ,(vconcat (mapcar (lambda (action) (plist-get action :title)) actions)))
      (messages . ,(vconcat steps-messages)))))

(steps-tell #'steps)
