import JSON

/// Goes through the whole file by the table of keys and notes what is wrong, in the file's order.
struct KeyJudge {
    let judge: ValueJudge
    private(set) var faults: [FileFault] = []

    init(_ judge: ValueJudge) { self.judge = judge }

    mutating func judge(_ value: JSONValue, by node: KeyNode, at path: String) {
        if value.isNull {
            note(path, "null is no value: leave the key out")
            return
        }
        switch node.rule.kind {
        case .section:
            guard let object = value.object else {
                note(path, "write an object of \(node.children.map(\.name).joined(separator: ", "))")
                return
            }
            judge(members: object, by: node, at: path)
        case .sections:
            guard let array = value.array else {
                note(path, "write a list of objects")
                return
            }
            for (index, element) in array.enumerated() {
                guard let object = element.object else {
                    note("\(path)[\(index)]", "write an object of \(node.children.map(\.name).joined(separator: ", "))")
                    continue
                }
                judge(members: object, by: node, at: "\(path)[\(index)]")
            }
        default:
            for (suffix, problem) in judge.faults(of: value, as: node.rule.kind) { note(path + suffix, problem) }
        }
    }

    private mutating func judge(members: JSONObject, by node: KeyNode, at path: String) {
        let prefix = path.isEmpty ? "" : path + "."
        for (name, value) in members {
            if let child = node.child(name) {
                judge(value, by: child, at: prefix + name)
            } else {
                note(prefix + name, "unknown key: \(advice(for: name, among: node.children.map(\.name)))")
            }
        }
        for (name, child) in node.children where child.rule.isRequired && members[name] == nil {
            note(prefix + name, "missing: add it")
        }
    }

    private func advice(for name: String, among known: [String]) -> String {
        let nearest = known.map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
            .min { $0.distance < $1.distance }
        if let nearest, nearest.distance <= 2 { return "is \(nearest.name) meant?" }
        return "here are known \(known.joined(separator: ", "))"
    }

    /// How many letters have to be changed, added or taken away to make one text the other.
    private func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (line, letter) in left.prefix(64).enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in right.indices {
                let change = diagonal + (right[column] == letter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }

    private mutating func note(_ path: String, _ problem: String) {
        faults.append(FileFault(path: path, problem: problem))
    }
}
